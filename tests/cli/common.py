"""What the tests of the command share: running it, with or without a terminal, and small inputs."""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import tempfile
import termios
import unittest

ASSAY = os.environ.get('ASSAY', 'build/assay')

# Two parameters, four points, one metric, two call paths below main, two repetitions: 16 values. Line 3 is the one of POINTS.
SMALL = '''PARAMETER p
PARAMETER n
POINTS (1 10) (2 10) (1 20) (2 20)
METRIC time
REGION main->sort
DATA 1 1.5
DATA 2 2.5
DATA 3 3.5
DATA 4 4.5
REGION main->join
DATA 10 11
DATA 20 21
DATA 30 31
DATA 40 41
'''
# Line 13 has a word for a number.
BROKEN = SMALL.replace('DATA 30 31', 'DATA 30 thirty')


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f'status {self.status}\nstdout: {self.out}\nstderr: {self.err}'


def environment(**changes):
    """A known one: no colour or width of the caller's terminal."""
    env = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'COLUMNS', 'TERM')}
    env.update({k: v for k, v in changes.items() if v is not None})
    return env


def run(*args, stdin='', env=None, cwd=None, **more):
    p = subprocess.run([ASSAY, *map(str, args)], input=stdin.encode() if isinstance(stdin, str) else stdin, capture_output=True,
                       env=env or environment(), cwd=cwd, timeout=60, **more)
    return Result(p.returncode, p.stdout.decode(), p.stderr.decode())


def run_on_terminal(*args, columns=80, env=None, cwd=None):
    """Standard output and error are a terminal; gives what it would show, with \\n line ends."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    p = subprocess.Popen([ASSAY, *map(str, args)], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=env or environment(TERM='xterm'), cwd=cwd)
    os.close(slave)
    shown = b''
    while select.select([master], [], [], 60)[0]:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(master)
    return Result(p.wait(60), shown.decode().replace('\r\n', '\n'), '')


class Case(unittest.TestCase):
    """A folder of its own for each test."""
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), 'wb') as f:
            f.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def files(self):
        return sorted(os.listdir(self.folder))

    def assertFine(self, result):
        self.assertEqual((0, ''), (result.status, result.err), result)

    def assertFails(self, result, status, *words):
        """One line on stderr that says what is wrong, nothing on stdout."""
        self.assertEqual(status, result.status, result)
        self.assertEqual('', result.out, result)
        self.assertOneLine(result, *words)

    def assertOneLine(self, result, *words):
        self.assertRegex(result.err, r'\Aassay: [^\n]+\n\Z', result)
        for word in words:
            self.assertIn(word, result.err)


def main():
    unittest.main(verbosity=1)
