"""A running `assay view`, and questions to it: for tests of the viewer's API."""
import http.client
import json
import os
import signal
import subprocess
import urllib.parse

ASSAY = os.environ.get('ASSAY', 'build/assay')


def is_sanitized():
    """Whether it was built with AddressSanitizer, which keeps what is freed for a while: memory says nothing then."""
    with open(ASSAY, 'rb') as command:
        return b'__asan_init' in command.read()


class Refused(Exception):
    """An answer with another status than 200."""

    def __init__(self, status, body):
        super().__init__(f'{status}: {body[:300]!r}')
        self.status, self.body = status, body
        try:
            self.message = json.loads(body)['error']
        except (ValueError, KeyError, TypeError):
            self.message = None


class Viewer:
    """with Viewer('a.cubex') as viewer: viewer.get('tree', d=0, metric=['time', 'visits'])"""

    def __init__(self, *args, env=None, cwd=None):
        self.process = subprocess.Popen([ASSAY, 'view', '--no-open', *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                                        env={**os.environ, 'DISPLAY': '', 'SSH_CONNECTION': '', **(env or {})})
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            self.status, self.error = self.end()
            raise RuntimeError(f'assay view ended with {self.status}: {self.error}')
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.root = parts.hostname, parts.port, parts.path
        self.token = self.root.strip('/')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, number=signal.SIGINT):
        """Ends it; its exit status and what it said."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, error = self.process.communicate(timeout=60)
        return self.process.returncode, error.decode()

    def ask(self, path, method='GET', body=None, headers=None, timeout=60):
        """(status, headers, bytes) of any path, as it is."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def path(self, name, params):
        query = urllib.parse.urlencode([(key, value) for key, values in params.items() if values is not None
                                        for value in (values if isinstance(values, (list, tuple)) else [values])])
        return f'{self.root}api/{name}' + (f'?{query}' if query else '')

    def get(self, name, /, **params):
        return self.checked(*self.ask(self.path(name, params)))

    def post(self, name, body=b'', /, **params):
        return self.checked(*self.ask(self.path(name, params), 'POST', body))

    @staticmethod
    def checked(status, _, body):
        if status != 200:
            raise Refused(status, body)
        return json.loads(body)

    def peak_memory(self):
        """Bytes of memory it has had at most."""
        with open(f'/proc/{self.process.pid}/status', encoding='ascii') as f:
            return next(int(line.split()[1]) * 1024 for line in f if line.startswith('VmHWM'))

    def processor_seconds(self):
        """Time that it has used processors for."""
        with open(f'/proc/{self.process.pid}/stat', encoding='ascii') as f:
            return sum(int(n) for n in f.read().rsplit(')', 1)[1].split()[11:13]) / os.sysconf('SC_CLK_TCK')
