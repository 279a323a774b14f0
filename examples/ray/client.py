"""A client that tries again if that can help: `python client.py URL FILE` posts the file, and prints the answer.

Requests to guests can be repeated: guests have no state, and a guest whose node is lost has answered nobody."""

import sys

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

# 429 comes from wasinn: the node has too much to do. Ray's proxy returns 503 if its queue is full or there is no node,
# and 500 if the node that had the request is lost. urllib3 waits as long as Retry-After says, else 0.2 s, 0.4 s …, and
# a random time more.
ASKED_AGAIN = (429, 500, 502, 503)


def session(attempts=8) -> requests.Session:
    retry = Retry(
        total=attempts,
        status_forcelist=ASKED_AGAIN,
        allowed_methods=None,
        backoff_factor=0.2,
        backoff_jitter=0.3,
        backoff_max=5,
        raise_on_status=False,
    )
    asks = requests.Session()
    asks.mount("http://", HTTPAdapter(max_retries=retry))
    asks.mount("https://", HTTPAdapter(max_retries=retry))
    return asks


def main():
    url, file = sys.argv[1:]
    with open(file, "rb") as body:
        answer = session().post(url, body.read(), timeout=60)
    print(answer.text.strip())
    sys.exit(0 if answer.ok else f"{answer.status_code} {answer.reason}")


if __name__ == "__main__":
    main()
