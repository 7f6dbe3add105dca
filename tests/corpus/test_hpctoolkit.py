"""Real HPCToolkit databases against oracles (corpus/hpctoolkit), as the corpus' own program checks them. ASSAY_CORPUS names the corpus, else ../shared/corpus beside the
repository; the program is verify/hpctoolkit.py beside it. Without them the test is skipped."""
import os
import subprocess
import sys
import unittest

from oracles import ASSAY, CORPUS

ROOT = os.path.normpath(CORPUS)
CHECKER = os.path.join(os.path.dirname(ROOT), 'verify', 'hpctoolkit.py')


class Databases(unittest.TestCase):
    def test_all(self):
        result = subprocess.run([sys.executable, CHECKER, '--assay', ASSAY, '--corpus', ROOT], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        self.assertRegex(result.stdout.splitlines()[-1], r'\A[1-9]\d* passed, 0 failed\Z')


if __name__ == '__main__':
    if not os.path.isdir(os.path.join(ROOT, 'hpctoolkit', 'oracle')) or not os.path.exists(CHECKER):
        print(f'no HPCToolkit corpus at {ROOT}, or no {CHECKER}; set ASSAY_CORPUS to test against one')
        sys.exit(77)
    unittest.main()
