"""Perun profiles of unusual shape: recognised whatever comes first in them, and read as far as they say something."""
import json
import os

from common import Case, main, run

MODEL = {'uid': 'f', 'model': 'linear', 'r_square': 0.5, 'coeffs': [{'name': 'b0', 'value': 1}, {'name': 'b1', 'value': 2}], 'x_start': 0, 'x_end': 1}


class Odd(Case):
    def test_models_before_anything_else(self):
        """The beginning of a file shows nothing but models where there are many."""
        path = self.write('models.perf', json.dumps({'models': [MODEL] * 1000, 'header': {'cmd': 'c'}, 'resources': []}))
        self.assertGreater(os.path.getsize(path), 2 * 65536)
        info = run('info', '--json', path).json
        self.assertEqual(('perun', 1000), (info['format'], info['models']))
        self.assertFails(run('info', self.write('only.perf', json.dumps({'models': [MODEL]}))), 3, 'only.perf:1:1: none of the regions')

    def test_frames_of_nobody(self):
        """A trace that leads to no uid: its frames are regions, and its amount is nobody's."""
        resources = [{'amount': 1, 'trace': [{'func': 'a'}]}, {'uid': None, 'amount': 2, 'trace': [{'function': 'b', 'source': 's.c', 'line': 3}]}, {'uid': 'u', 'amount': 4}]
        path = self.write('p.perf', json.dumps({'header': {'units': {'time': 's'}}, 'resources': resources}))
        self.assertEqual(['a', 's.c:b:3', 'u'], [r['name'] for r in run('sql', '--json', path, 'select name from region order by 1').json])
        self.assertEqual('u 4\n', run('flame', '--folded', path).out)


if __name__ == '__main__':
    main()
