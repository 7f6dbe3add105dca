"""--group-by: groups of tags instead of call paths, for the verbs over call trees. Expected numbers are arithmetic by hand (tests/cli/captures.py has the times)."""
import unittest

from captures import FLIGHT, SIGNATURE, region, run_info
from common import SMALL, Case, run


def roots_of(answer):
    """The root of the answer is the only one there is, or stands for all of them."""
    root = answer['root']
    return root['children'] if root['name'] == '<root>' else [root]


class GroupBy(Case):
    def flight(self, text=FLIGHT):
        return self.write('flight.afperf', text)

    def groups(self, *args, text=FLIGHT):
        """The nodes of tree --json: path -> (visits, exclusive time, inclusive time, time covered)."""
        result = run('tree', self.flight(text), '--json', *args)
        self.assertEqual(result.status, 0, result)
        found = {}

        def walk(node, path):
            is_section = not path and node['kind'] == 'section'
            below = path + (node['name'] + (' (section)' if is_section else ''),)
            values = node['values']
            found[below] = tuple(round(values.get(metric, {}).get(kind, 0), 9) for metric, kind in (
                ('visits', 'exclusive'), ('time', 'exclusive'), ('time', 'inclusive'), ('time covered', 'inclusive')))
            for child in node['children']:
                walk(child, below)

        for root in roots_of(result.json):
            walk(root, ())
        return found

    def test_one_tag(self):
        self.assertEqual(self.groups('--group-by', 'platform'),
                         {('(no platform)',): (1, 3, 3, 10), ('F15',): (2, 3, 3, 3), ('F16',): (2, 4, 4, 4), ('F15 (section)',): (2, 11, 11, 9)})

    def test_two_tags(self):
        self.assertEqual(self.groups('--group-by', 'platform,component'), {
            ('(no platform)',): (0, 0, 3, 10), ('(no platform)', '(no component)'): (1, 3, 3, 10),
            ('F15',): (0, 0, 3, 3), ('F15', '(no component)'): (1, 2, 2, 3), ('F15', 'sensor'): (1, 1, 1, 1),
            ('F15 (section)',): (0, 0, 11, 9), ('F15 (section)', '(no component)'): (2, 11, 11, 9),
            ('F16',): (0, 0, 4, 4), ('F16', 'engine'): (1, 3, 3, 4), ('F16', 'sensor'): (1, 1, 1, 1)})

    def test_words(self):
        self.assertEqual(self.groups('--group-by', 'region'),
                         {('frame',): (1, 3, 3, 10), ('move',): (2, 5, 5, 7), ('radar',): (2, 2, 2, 2), ('io (section)',): (2, 11, 11, 9)})
        self.assertEqual(self.groups('--group-by', 'component,path')[('sensor', 'frame', 'move', 'radar')], (2, 2, 2, 2))

    def test_all_time_is_somewhere(self):
        for keys in ('platform', 'component,platform', 'path', 'region,component', 'platform,path,component'):
            roots = [v[2] for path, v in self.groups('--group-by', keys).items() if len(path) == 1]
            self.assertAlmostEqual(sum(roots), 10 + 5 + 6, msg=keys)

    def test_pauses(self):
        self.assertEqual(self.groups('--group-by', 'platform', '-O', 'deduct_pauses=yes'),
                         {('(no platform)',): (1, 3, 3, 9), ('F15',): (2, 3, 3, 3), ('F16',): (2, 3, 3, 3), ('F15 (section)',): (2, 9, 9, 8)})

    def test_tags_of_runs(self):
        text = (SIGNATURE + run_info(1, tags='size=1') + run_info(2, tags='size=2') + region(0x10, 'a', 0, 4) + region(0x11, 'b', 1, 2, 'size=9') +
                region(0x12, 'a', 0, 3, run=2))
        sizes = self.groups('--group-by', 'size', '--run', '0', text=text)
        self.assertEqual((sizes[('1',)], sizes[('9',)]), ((1, 3, 3, 4), (1, 1, 1, 1)))
        self.assertEqual(self.groups('--group-by', 'size', '--run', '1', text=text)[('2',)], (1, 3, 3, 3))

    def test_attribute_of_runs(self):
        groups = self.groups('--group-by', 'application name')
        self.assertEqual((groups[('mission',)][0], groups[('mission (section)',)][0]), (5, 2))

    def test_other_options_go_on(self):
        result = run('tree', self.flight(), '--group-by', 'platform,component', '--root', 'F16', '--json')
        names = [root['name'] for root in roots_of(result.json)]
        self.assertEqual(names, ['F16'])
        result = run('tree', self.flight(), '--group-by', 'platform', '--match', '^F1', '--csv')
        self.assertIn('F15', result.out)
        self.assertNotIn('(no platform)', result.out)

    def test_top(self):
        lines = run('top', self.flight(), '--group-by', 'platform,component').out.splitlines()
        self.assertIn('(no component)', lines[2])  # 2 + 3 seconds, and 11 of a section
        self.assertEqual(sum('sensor' in line for line in lines), 1)

    def test_flame(self):
        lines = run('flame', '--folded', self.flight(), '--group-by', 'platform,region').out.splitlines()
        self.assertEqual(sorted(lines), ['(no platform);frame 3', 'F15;move 2', 'F15;radar 1', 'F16;move 3', 'F16;radar 1'])

    def test_diff(self):
        other = self.write('slower.afperf', FLIGHT.replace('RegionStop,106,0x14', 'RegionStop,107,0x14'))
        result = run('diff', self.flight(), other, '--group-by', 'component', '--json')
        self.assertEqual(result.status, 0, result)
        change = {child['name']: child['values']['time']['change'] for child in result.json['root']['children']}
        self.assertAlmostEqual(change['sensor']['inclusive'] if isinstance(change['sensor'], dict) else change['sensor'], 1)

    def test_model(self):
        """Two groups at sizes 2, 4, 8, 16 and 32: kind a takes `size` seconds, kind b twice that."""
        text = SIGNATURE + ''.join(
            run_info(i, tags=f'size={2 ** i}') + region(2 * i, 'solve', 0, 2 ** i, 'kind=a', run=i) + region(2 * i + 1, 'solve', 100, 100 + 2 ** (i + 1), 'kind=b', run=i)
            for i in range(1, 6))
        models = run('model', self.flight(text), '-O', 'parameter=tag:size', '--group-by', 'kind', '--metric', 'time', '--json').json['models']
        self.assertEqual({m['callpath']: (round(m['terms'][0]['coefficient'], 6), m['terms'][0]['factors'][0]['exponent']) for m in models},
                         {'a': (1, '1'), 'b': (2, '1')})

    def test_measured(self):
        """frame has 9 s of CPU time, of which the move of F16 in it has 4."""
        text = FLIGHT + 'MeasurementType,100,0x1,0xa,cpu,double,s,,\nRegionAggregate,110,100,0x10,,0xa,9\nRegionAggregate,109,105,0x13,,0xa,4\n'
        result = run('tree', self.flight(text), '--group-by', 'platform', '--metric', 'cpu', '--json')
        found = {root['name']: root['values']['cpu']['exclusive'] for root in roots_of(result.json) if 'cpu' in root['values']}
        self.assertEqual((found['(no platform)'], found['F16']), (5, 4))

    def test_stat(self):
        answer = run('stat', self.flight(), '--group-by', 'platform', '--json').json
        self.assertEqual((answer['over'], answer['group_by']), ('occurrences', 'platform'))
        counts = sorted((c['path'], c['metrics']['time']['inclusive']['count']) for c in answer['contexts'])
        self.assertEqual(counts, [('(no platform)', 1), ('F15', 2), ('F15', 2), ('F16', 2)])

    def test_slips(self):
        for keys, words in (('', 'names of tags'), ('platform,', 'names of tags'), ('platform,platform', 'twice'),
                            ('platfrom', "nothing has the tag 'platfrom'; there are platform, component")):
            result = run('tree', self.flight(), '--group-by', keys)
            self.assertEqual(result.status, 2, result)
            self.assertIn(words, result.err)
            self.assertEqual(result.err.count('\n'), 1)

    def test_deep_paths(self):
        """3,000 regions in each other: the outermost takes 2 seconds without those in it."""
        n = 3000
        text = (SIGNATURE + run_info() + ''.join(f'RegionStart,{100 + i},0x1,{i:#x},f,\n' for i in range(1, n + 1)) +
                ''.join(f'RegionStop,{100 + 2 * n - i},{i:#x}\n' for i in range(n, 0, -1)))
        self.assertEqual(self.groups('--group-by', 'path', '--depth', '1', text=text), {('f',): (1, 2, 2 * n - 2, 2 * n - 2)})

    def test_no_events(self):
        result = run('tree', self.write('small.txt', SMALL), '--group-by', 'platform')
        self.assertEqual(result.status, 3, result)
        self.assertIn('has no events', result.err)


if __name__ == '__main__':
    unittest.main()
