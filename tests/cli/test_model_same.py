"""The same models, to the last bit, whatever instructions, threads or order of work."""
import json
import math
import os
import random
import subprocess
import tempfile
import unittest

ASSAY = os.environ['ASSAY']


def run(path, *args, **environment):
    r = subprocess.run([ASSAY, 'model', '--json', '--quiet', *args, path], capture_output=True, env={**os.environ, **environment})
    assert r.returncode == 0, r.stderr
    return r.stdout


def write_ragged(path, parameters):
    """Call paths that lack some of the points, with noise; several groups of points, several windows of work."""
    rng = random.Random(17)
    sizes = [[2 ** i for i in range(2, 10)], [10 * i for i in range(1, 7)]][:parameters]
    points = [(a,) for a in sizes[0]] if parameters == 1 else [(a, b) for a in sizes[0][:5] for b in sizes[1]]
    with open(path, 'w') as f:
        for c in range(900 if parameters == 1 else 120):
            power = rng.choice([0, 0.5, 1, 1.5, 2])
            for point in points:
                if c % 4 == 0 and rng.random() < 0.1:
                    continue
                value = (3 + math.prod(point) ** power) * (1 + rng.gauss(0, 0.05))
                f.write(json.dumps({'params': dict(zip('pq', point)), 'callpath': f'main->c{c}', 'value': [value, value * 1.01]}) + '\n')


class Same(unittest.TestCase):
    def check(self, parameters, *args):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'a.jsonl')
            write_ragged(path, parameters)
            first = run(path, '--threads', '1', *args)
            self.assertGreater(len(json.loads(first)['models']), 100)
            self.assertEqual(first, run(path, '--threads', '5', *args), 'threads')
            self.assertEqual(first, run(path, *args, ASSAY_SIMD='baseline'), 'instructions')
            self.assertEqual(first, run(path, *args, LC_ALL='de_DE.UTF-8'), 'locale')

    def test_basic(self):
        self.check(1)

    def test_without_leaving_out(self):
        self.check(1, '-O', 'use_crossvalidation=no')

    def test_refining(self):
        self.check(1, '--modeler', 'refining')

    def test_segmented(self):
        self.check(1, '--modeler', 'segmented')

    def test_several_parameters(self):
        self.check(2)


if __name__ == '__main__':
    unittest.main()
