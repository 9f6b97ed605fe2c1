"""Copies a CSV file with a peer (polars or duckdb): read, parse, write. Prints seconds and peak memory as JSON."""

import json
import resource
import sys
import time

peer, source, target = sys.argv[1:]
if peer == "polars":
    import polars

    began = time.perf_counter()
    # Every column as text: no more work than copying needs, as in our own copy.
    polars.scan_csv(source, infer_schema=False).sink_csv(target)
else:
    import duckdb

    began = time.perf_counter()
    duckdb.sql(f"COPY (SELECT * FROM read_csv('{source}', all_varchar = true)) TO '{target}' (HEADER)")
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps({"seconds": seconds, "peak_mib": peak, "steps": {}}))
