"""Extra-Prof profiles against what Extra-P reads of them (corpus/nsight/oracle/extraprof_*.json). ASSAY_CORPUS names the corpus, else ../shared/corpus beside the repository; without it the
test is skipped. Two differences are known: NaN, which Extra-P makes of lists without threads, is left out, and "->" in names is "- >" here."""
import glob
import json
import math
import os
import subprocess
import sys
import unittest

from oracles import ASSAY, CORPUS

ROOT = os.path.normpath(os.path.join(CORPUS, 'nsight'))
ORACLES = sorted(glob.glob(os.path.join(ROOT, 'oracle', 'extraprof_*.json')))
OPTIONS = {'default': [], 'strong': ['-O', 'scaling=strong'], 'inclusive': ['-O', 'inclusive=yes'], 'sum_gpu': ['-O', 'sum_gpu=yes'], 'concurrent_threads': ['-O', 'concurrent_threads=yes']}
STATISTICS = (('mean', 'mean'), ('median', 'median'), ('minimum', 'min'), ('maximum', 'max'), ('repetitions', 'n'))
MEASUREMENTS = '''select p.label as point, c.path, t.name as metric, m.mean, m.median, m.minimum, m.maximum, m.repetitions from measurement m
    join context c on c.id = m.context join metric t on t.id = m.metric join point p on p.id = m.point'''


class Corpus(unittest.TestCase):
    def measurements(self, folder, options):
        result = subprocess.run([ASSAY, 'sql', '--json', *options, folder, MEASUREMENTS], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertEqual(0, result.returncode, result.stderr)
        return {(r['path'], r['metric'], tuple(float(x) for x in r['point'].strip('()').split(','))): r for r in json.loads(result.stdout)}

    def check(self, oracle, have):
        for m in oracle['measurements']:
            path = m['callpath'].replace('operator->', 'operator- >')
            for p in m['points']:
                if p['mean'] == 'nan':
                    continue
                ours = have[path, m['metric'], tuple(p['coordinate'])]
                for name, theirs in STATISTICS:
                    self.assertTrue(math.isclose(ours[name], p[theirs], rel_tol=1e-9, abs_tol=1e-15), (path, m['metric'], p, ours))

    def test_measurements(self):
        for path in ORACLES:
            stem, option = os.path.basename(path)[len('extraprof_'):-len('.json')].rsplit('.', 1)
            folder = os.path.join(ROOT, 'synthetic', stem[len('synth_'):]) if stem.startswith('synth_') else os.path.join(ROOT, 'extra_prof', stem)
            if glob.glob(os.path.join(folder, '*', '*-hwc*')):  # spoils the times beside it, in Extra-P
                continue
            with self.subTest(path), open(path, encoding='utf-8') as f:
                self.check(json.load(f), self.measurements(folder, OPTIONS[option]))


if __name__ == '__main__':
    if not ORACLES:
        print(f'there are no answers about profiles in {ROOT}')
        sys.exit(77)
    unittest.main()
