"""Copies a CSV or Parquet file with a peer (polars or duckdb): read, parse, write. Prints seconds
and peak memory as JSON."""

import json
import resource
import sys
import time

peer, source, target = sys.argv[1:]
csv = source.endswith(".csv")
if peer == "polars":
    import polars

    began = time.perf_counter()
    if not csv:
        polars.scan_parquet(source).sink_parquet(target)
    elif target.endswith(".parquet"):
        # Numbers as numbers, as usual in such a file.
        polars.scan_csv(source, schema_overrides={"zip": polars.String}).sink_parquet(target)
    else:
        # Every column as text: the minimum work of a copy, as in our own copy.
        polars.scan_csv(source, infer_schema=False).sink_csv(target)
else:
    import duckdb

    began = time.perf_counter()
    duckdb.sql("SET enable_progress_bar = false")
    if csv:
        duckdb.sql(
            f"COPY (SELECT * FROM read_csv('{source}', all_varchar = true)) TO '{target}' (HEADER)"
        )
    else:
        duckdb.sql(f"COPY (SELECT * FROM '{source}') TO '{target}'")
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps({"seconds": seconds, "peak_mib": peak, "steps": {}}))
