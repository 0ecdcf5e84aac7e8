"""A server that stands in for the app: it says on every path which process answers."""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Answer(BaseHTTPRequestHandler):
    """The number of this process; the path of the health is not there, as below a sub-path."""

    def do_GET(self):
        """Answer."""
        body = str(os.getpid()).encode()
        self.send_response(404 if self.path.endswith("/health") else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Print nothing."""


if __name__ == "__main__":
    if Path(os.environ.get("NO_MORE_STARTS", "nowhere")).exists():
        sys.exit(1)
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
