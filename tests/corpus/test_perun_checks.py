"""Perun's checks of real profiles against Perun's own answers (corpus/perun/oracle/checks), as the corpus' own program checks them. ASSAY_CORPUS names the corpus, else
../shared/corpus beside the repository; the program is verify/perun.py beside it. Without them the test is skipped."""
import os
import subprocess
import sys
import unittest

from oracles import ASSAY, CORPUS

ROOT = os.path.normpath(CORPUS)
CHECKER = os.path.join(os.path.dirname(ROOT), 'verify', 'perun.py')


class Checks(unittest.TestCase):
    def test_all(self):
        result = subprocess.run([sys.executable, CHECKER, '--assay', ASSAY, '--corpus', ROOT, '--only', 'compare'], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        self.assertRegex(result.stdout.splitlines()[-1], r'\A[1-9]\d* passed, 0 failed\Z')


if __name__ == '__main__':
    if not os.path.isdir(os.path.join(ROOT, 'perun', 'oracle')) or not os.path.exists(CHECKER):
        print(f'no Perun corpus at {ROOT}, or no {CHECKER}; set ASSAY_CORPUS to test against one')
        sys.exit(77)
    unittest.main()
