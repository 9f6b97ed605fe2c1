"""The browser interface, from Python."""

from __future__ import annotations

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
# A process that was started in the background ignores the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
people = pyarrow.table({"age": [31, 32, 33, 34] * 5, "disease": ["flu", "cold"] * 10})
incrowd.serve(people, open=False)
print("ended")
"""


def test_a_table_in_memory_is_served_until_interrupted() -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[1]
        assert address.startswith("http://127.0.0.1:")
        welcome = urllib.request.urlopen(address)
        place = str(welcome.url)
        assert "/s/" in place and "/t/" in place, "the address leads to the table"
        assert welcome.headers["Set-Cookie"] is None

        def wait_for(text: str) -> str:
            for _ in range(200):
                answer = urllib.request.urlopen(place)
                if text in answer.read().decode():
                    return str(answer.url)
                time.sleep(0.1)
            raise AssertionError(f"{text} does not come")

        place = wait_for("disease")
        assert place.endswith("/table")
        place = place.removesuffix("/table") + "/release"
        wait_for("Nobody can be narrowed down below")
        # Requests without the secret are refused, and the token works once.
        for wrong in (address, address.split("?")[0]):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(wrong)
            assert refused.value.code == 403
            refused.value.close()
        server.send_signal(signal.SIGINT)
        assert "ended" in server.communicate(timeout=20)[0]
        assert server.returncode == 0
    finally:
        server.kill()


def test_two_files_are_refused(tmp_path: object) -> None:
    with pytest.raises(incrowd.InputError, match="single file"):
        incrowd.serve([f"{tmp_path}/a.csv", f"{tmp_path}/b.csv"], open=False)
