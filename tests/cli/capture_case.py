"""Compiling and running programs that record themselves with libassay-capture, for the tests of it."""
import os
import shlex
import subprocess
import tempfile
import unittest

from afperf_check import Capture

SOURCE, BUILD = os.environ['ASSAY_SOURCE'], os.environ['ASSAY_BUILD']
with open(os.path.join(BUILD, 'CMakeCache.txt')) as cache:
    SANITIZE = 'ASSAY_SANITIZE:BOOL=ON' in cache.read()
# another build of the library, such as one with ThreadSanitizer, by hand
FLAGS = shlex.split(os.environ.get('ASSAY_CAPTURE_FLAGS', '')) or (['-fsanitize=address,undefined'] if SANITIZE else [])
LIBRARY = os.environ.get('ASSAY_CAPTURE_LIBRARY', os.path.join(BUILD, 'libassay-capture.a'))
BEGINNING = '''#include <assay/capture.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
'''


class CaptureCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='assay-capture-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = self.path('out.afperf')

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, text, compiler='cc', name='program', library=(LIBRARY,), flags=()):
        source = self.path(name + ('.cpp' if '++' in compiler else '.c'))
        with open(source, 'w') as f:
            f.write(BEGINNING + text)
        program = self.path(name)
        command = [compiler, '-D_GNU_SOURCE', '-O1', '-Wall', '-Wextra', '-Werror', *FLAGS, *flags, '-I', os.path.join(SOURCE, 'include'), source, *library, '-pthread', '-o', program]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(0, result.returncode, result.stdout)
        return program

    def environment(self, **settings):
        env = {k: v for k, v in os.environ.items() if not k.startswith('ASSAY_CAPTURE')}
        env.setdefault('ASSAY_CAPTURE', self.out)
        env.update({'ASSAY_CAPTURE' + ('_' + k if k else ''): v for k, v in settings.items()})
        return {k: v for k, v in env.items() if v is not None}

    def start(self, program, *arguments, **settings):
        return subprocess.Popen([program, *map(str, arguments)], env=self.environment(**settings), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_program(self, program, *arguments, status=0, says='', **settings):
        """Runs it; says: what it must print on standard error, a regular expression."""
        process = self.start(program, *arguments, **settings)
        out, err = process.communicate(timeout=120)
        self.assertEqual(status, process.returncode, err)
        self.assertRegex(err, r'\A' + says + r'\Z')
        return out

    def capture(self, text, *arguments, says='', status=0, complete=True, **settings):
        self.run_program(self.compile(text), *arguments, says=says, status=status, **settings)
        return Capture(self.out, complete)
