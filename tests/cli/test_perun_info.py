"""What assay info says of Perun's profiles and stores."""
import json
import unittest

from common import Case, run, run_on_terminal
from perun_store import Store, profile


def complexity():
    """Two functions at three sizes, four calls each, with models of them and a longer description."""
    sizes = [n for n in (10, 20, 40) for _ in range(4)]
    return {'origin': 'c0ffee' * 6 + 'c0ff', 'header': {'type': 'mixed', 'units': {'mixed(time delta)': 'us'}, 'cmd': './sort', 'args': '-r', 'workload': 'names.txt'},
            'collector_info': {'name': 'trace', 'params': {'rules': [f'rule{i}' for i in range(20)]}},
            'postprocessors': [{'name': 'clusterizer', 'params': {}}, {'name': 'regression_analysis', 'params': {}}],
            'resources': {f'{f}#0': {'amount': [k * n for n in sizes], 'structure-unit-size': sizes} for k, f in enumerate('fg', 1)},
            'resource_type_map': {f'{f}#0': {'type': 'mixed', 'subtype': 'time delta', 'uid': f} for f in 'fg'},
            'models': [{'uid': f, 'model': m, 'r_square': 0.5, 'coeffs': [{'name': 'b0', 'value': 1}]} for f in 'fg' for m in ('linear', 'constant')] + [{'uid': 'f', 'model': 'power', 'r_square': 0.4}]}


class Card(Case):
    def lines(self, out):
        return {line.split()[0]: line.split(None, 1)[1] for line in out.splitlines()[1:] if line.startswith('  ')}

    def test_what_was_measured_comes_first(self):
        path = self.write('a.perf', json.dumps(complexity()))
        shown = run('info', path).out
        card = self.lines(shown)
        self.assertIn('Perun profile, layout new', shown.splitlines()[0])
        self.assertEqual(['./sort -r names.txt', 'trace, then clusterizer, then regression_analysis', 'c0ffeec0ff'], [card[k] for k in ('command', 'collector', 'commit')])
        self.assertEqual('3  4 repetitions each', card['points'])
        self.assertEqual('5  stored in the file: linear 2, constant 2, power 1', card['models'])
        self.assertIn('header (5), collector_info (21), postprocessors (4)', card['attributes'])
        self.assertIn(f'next: assay tree {path}   |   assay regress {path}', shown)

    def test_it_fits_the_terminal(self):
        path = self.write('a.perf', json.dumps(complexity()))
        shown = run_on_terminal('info', '--color', 'never', path, columns=60).out
        self.assertTrue(all(len(line) <= 60 or 'assay ' in line or path in line for line in shown.splitlines()), shown)

    def test_records_without_sizes_are_for_flame_graphs(self):
        path = self.write('a.perf', json.dumps(profile()))
        self.assertIn(f'   |   assay flame --folded {path}', run('info', path).out)
        self.assertEqual(0, run('flame', '--folded', path).status)

    def test_a_store_is_listed_by_time_and_says_once_what_all_have(self):
        store = Store(self.folder)
        store.commit('a' * 40, [('late.perf', 3000, profile('h')), ('early.perf', 1000, profile('f'))])
        store.commit('b' * 40, [('middle.perf', 2000, profile('g', collector='time'))])
        shown = run('info', self.folder).out.splitlines()
        self.assertEqual(['early.perf', 'middle.perf', 'late.perf'], [line.split()[2] for line in shown if '1970-01-01' in line])
        self.assertIn('all: state stored, type mixed, cmd ./bench, workload small', shown)
        self.assertIn('run  commit      file         collector  time (UTC)', shown)
        self.assertIn(f'compare --series {self.folder}', shown[-1])


if __name__ == '__main__':
    unittest.main()
