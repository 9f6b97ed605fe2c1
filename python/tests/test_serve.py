"""The pages in a browser, from Python."""

from __future__ import annotations

import http.cookiejar
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import incrowd
import pytest

SERVE = """
import incrowd, pyarrow
incrowd.serve(pyarrow.table({"age": [31, 32, 33, 34] * 5, "disease": ["flu", "cold"] * 10}), open=False)
print("ended")
"""


def test_a_table_in_memory_is_served_until_interrupted() -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[1]
        assert address.startswith("http://127.0.0.1:")
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        assert "Go on" in browser.open(address).read().decode()
        page = browser.open(address.split("?")[0]).read().decode()
        assert "disease" in page
        # Without the token nobody gets in.
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address.split("?")[0])
        assert refused.value.code in (401, 403)
        refused.value.close()
        server.send_signal(signal.SIGINT)
        assert "ended" in server.communicate(timeout=20)[0]
        assert server.returncode == 0
    finally:
        server.kill()


def test_two_files_are_no_table_to_show(tmp_path: object) -> None:
    with pytest.raises(incrowd.InputError, match="one table"):
        incrowd.serve([f"{tmp_path}/a.csv", f"{tmp_path}/b.csv"], open=False)
