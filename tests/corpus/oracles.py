"""What the corpus tests share: where the corpus is, and Extra-P's answers (corpus/extrap/oracle). ASSAY_CORPUS names the corpus, else ../shared/corpus beside
the repository; without it the tests are skipped."""
import json
import os
import sys
import unittest

ASSAY = os.environ['ASSAY']
CORPUS = os.environ.get('ASSAY_CORPUS') or os.path.join(os.environ['ASSAY_SOURCE'], '..', 'shared', 'corpus')
ROOT = os.path.normpath(os.path.join(CORPUS, 'extrap'))


def oracles():
    for folder, folders, files in os.walk(os.path.join(ROOT, 'oracle')):
        folders[:] = sorted(f for f in folders if f != 'options')
        for name in sorted(files):
            if name.endswith('.json') and name != 'probes.json':
                with open(os.path.join(folder, name)) as f:
                    yield json.load(f)


def main():
    if not os.path.isdir(os.path.join(ROOT, 'oracle')):
        print(f'no corpus at {ROOT}; set ASSAY_CORPUS to test against one')
        sys.exit(77)
    unittest.main()
