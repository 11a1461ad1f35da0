"""Sends requests to a server through a TLS proxy, as clients in a network do.

    python3 tests/server/proxy.py PORT HOST SERVER TOKEN CERTIFICATE.pem

The proxy listens on PORT of this machine with CERTIFICATE for HOST; SERVER is the address to which it forwards
requests, for example 127.0.0.1:9002.
"""

import base64
import gzip
import http.client
import json
import socket
import ssl
import sys
import time

PORT, HOST, SERVER, TOKEN, CERTIFICATE = int(sys.argv[1]), *sys.argv[2:6]
TRUST = ssl.create_default_context(cafile=CERTIFICATE)
NAMED = f"{HOST}:{PORT}"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


class Proxied(http.client.HTTPSConnection):
    """A connection to the proxy under the name of the host."""

    def __init__(self):
        super().__init__(HOST, PORT, timeout=60, context=TRUST)

    def connect(self):
        self.sock = TRUST.wrap_socket(socket.create_connection(("127.0.0.1", PORT), self.timeout), server_hostname=HOST)


def fetch(target, headers=None, method="GET", body=None, connection=None):
    connection = connection or Proxied()
    connection.request(method, target, body, {"Host": NAMED, **BEARER, **(headers or {})})
    answer = connection.getresponse()
    return answer, answer.read()


def check(is_right, what):
    if not is_right:
        sys.exit(f"wrong: {what}")


def check_token():
    for headers, expected in [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        (BEARER, 200),
        ({"Authorization": "Basic " + base64.b64encode(f"anybody:{TOKEN}".encode()).decode()}, 200),
    ]:
        answer, _ = fetch("/lichess", headers)
        check(answer.status == expected, f"{headers}: {answer.status}")
        check(expected != 401 or "Basic" in answer.headers["WWW-Authenticate"], "a browser is requested to ask for the token")


def check_answers():
    answer, page = fetch("/")
    check(answer.status == 200 and b"<title>pgndex" in page, "the page is served")
    check("default-src 'none'" in answer.headers["Content-Security-Policy"], "the security headers are passed through")
    for headers in ({}, {"Accept-Encoding": "gzip"}):
        answer, body = fetch("/api/games", headers)
        if headers:
            check(answer.headers["Content-Encoding"] == "gzip", "a response is compressed")
            body = gzip.decompress(body)
        check(answer.status == 200 and len(json.loads(body)["games"]) == 50, "games are listed")
        again, body = fetch("/api/games", {**headers, "If-None-Match": answer.headers["ETag"]})
        check((again.status, body) == (304, b""), f"an unchanged response is not sent again: {again.status}")
        check(again.headers["ETag"] == answer.headers["ETag"], "an unchanged response has the same tag")
    answer, body = fetch("/api/games?wihte=x")
    check(answer.status == 400 and 'did you mean "white"' in json.loads(body)["detail"], f"errors are passed through: {body}")
    moves = ",".join(["g1f3", "g8f6", "f3g1", "f6g8"] * 1250)
    answer, body = fetch(f"/lichess?play={moves}")
    check(answer.status == 200, f"a line of {len(moves)} letters is accepted: {answer.status}")


def check_hosts():
    for host, expected in [(HOST, 200), (NAMED, 200), ("evil.example.org", 403), (f"{HOST}.evil.example.org", 403)]:
        answer, _ = fetch("/lichess", {"Host": host})
        check(answer.status == expected, f"{host}: {answer.status}")
    sql, kind = json.dumps({"sql": "SELECT count(*) FROM game"}), {"Content-Type": "application/json"}
    for origin, expected in [(f"https://{NAMED}", 200), ("https://evil.example.org", 403), (f"https://{HOST}:1", 403), ("null", 403)]:
        answer, body = fetch("/api/sql", {**kind, "Origin": origin}, "POST", sql)
        check(answer.status == expected, f"{origin}: {answer.status}: {body}")


def check_uploads():
    book = "1. e4 e5 {" + "a comment " * 300_000 + "} 2. Nf3 *\n"
    answer, body = fetch("/api/repertoire?side=white", {"Content-Type": "application/x-chess-pgn"}, "POST", book)
    check(answer.status == 200, f"a repertoire of {len(book)} bytes is accepted: {answer.status}: {body[:200]}")
    answer, _ = fetch("/api/repertoire", {"Content-Type": "application/x-chess-pgn"}, "POST", book * 2)
    check(answer.status == 413, f"a repertoire of {2 * len(book)} bytes is rejected: {answer.status}")


def check_export():
    direct = http.client.HTTPConnection(SERVER, timeout=60)
    whole, expected = fetch("/api/export.pgn", {"Host": SERVER}, connection=direct)
    check(whole.status == 200 and len(expected) > 10 << 20, f"the export has more than 10 MiB: {len(expected)} bytes")
    connection = Proxied()
    connection.request("GET", "/api/export.pgn", headers={"Host": NAMED, **BEARER})
    answer = connection.getresponse()
    check("attachment" in answer.headers["Content-Disposition"], "the export is sent as a file")
    # The export is sent while it is being written; a slow reader loses nothing.
    read = answer.read(1000)
    time.sleep(1)
    check(read + answer.read() == expected, "the export is complete")
    # Exports for clients that have disconnected are stopped; otherwise they would occupy all eight threads.
    for _ in range(10):
        connection = Proxied()
        connection.request("GET", "/api/export.pgn", headers={"Host": NAMED, **BEARER})
        answer = connection.getresponse()
        check(answer.status in (200, 503), f"the export begins or is rejected: {answer.status}")
        answer.read(100)
        connection.close()
        time.sleep(0.1)
    time.sleep(1)
    check(len(fetch("/api/export.pgn")[1]) == len(expected), "a thread is free again")


check_token()
check_answers()
check_hosts()
check_uploads()
check_export()
