"""The program behind examples/kernels.txt still measures what that file says."""
import json
import os
import subprocess
import unittest

ASSAY = os.environ['ASSAY']
KERNELS = os.path.join(os.environ['ASSAY_SOURCE'], 'examples', 'kernels.txt')
MEASURE = os.path.join(os.environ['ASSAY_BUILD'], 'examples', 'measure-example')

OPERATIONS = '''select c.path as path, p.label as n, m.minimum as low, m.maximum as high from measurement m join metric t on t.id = m.metric
    join context c on c.id = m.context join point p on p.id = m.point where t.name = 'operations' '''


def query(path, statement, text=None):
    result = subprocess.run([ASSAY, 'sql', '--json', path, statement], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Examples(unittest.TestCase):
    def test_operations_are_repeatable(self):
        measured = subprocess.run([MEASURE, '128', '256'], check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
        now = {(r['path'], r['n']): (r['low'], r['high']) for r in query('-', OPERATIONS, measured)}
        then = {(r['path'], r['n']): (r['low'], r['high']) for r in query(KERNELS, OPERATIONS)}
        self.assertEqual(20, len(now))
        self.assertEqual({k: v for k, v in then.items() if k[1] in ('(128)', '(256)')}, now)
        self.assertEqual((128 ** 3, 128 ** 3), now['main->matrix->multiply', '(128)'])

    def test_wrong_sizes_are_refused(self):
        self.assertEqual(2, subprocess.run([MEASURE, 'many'], stderr=subprocess.DEVNULL).returncode)


if __name__ == '__main__':
    unittest.main()
