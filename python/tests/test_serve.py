"""The pages in a browser, from Python."""

from __future__ import annotations

import http.cookiejar
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import incrowd
import pytest

SERVE = """
import incrowd, pyarrow, signal
# Whoever was started in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
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
        on = re.search(r'href="/(t/[^"]+)"', browser.open(address).read().decode())
        assert on is not None, "the address leads to the table"
        place = address.split("?")[0] + on[1]

        def wait_for(text: str) -> str:
            for _ in range(200):
                answer = browser.open(place)
                if text in answer.read().decode():
                    return str(answer.url)
                time.sleep(0.1)
            raise AssertionError(f"{text} does not come")

        place = wait_for("disease").replace("/table", "/release")
        wait_for("Nobody can be narrowed down")
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
