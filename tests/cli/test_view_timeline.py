"""The viewer's time lines: rows, pictures, call paths by level, single intervals. What is expected is what `assay trace` says, or reckoned by hand from examples/simulation.afperf."""
import os

from common import Case, main, run
from viewer import Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
FILTER, HEAT, CAPTURE = (os.path.join(EXAMPLES, *name.split('/')) for name in ('gpu/filter.sqlite', 'heat-hpctoolkit', 'simulation.afperf'))


def cells(pieces):
    """Runs of columns, column by column."""
    return [number for length, number in zip(pieces[::2], pieces[1::2]) for _ in range(length)]


class Timeline(Case):
    @classmethod
    def setUpClass(cls):
        cls.viewer = Viewer(FILTER, HEAT, CAPTURE, os.path.join(EXAMPLES, 'kernels.txt'))

    @classmethod
    def tearDownClass(cls):
        cls.viewer.end()

    def get(self, name, /, **params):
        return self.viewer.get(name, **params)

    def refused(self, name, /, **params):
        with self.assertRaises(Refused) as caught:
            self.get(name, **params)
        return caught.exception

    def test_rows_are_those_of_the_command(self):
        for d, path in enumerate((FILTER, HEAT, CAPTURE)):
            with self.subTest(path):
                told = run('trace', '--json', path).json
                answer = self.get('timeline', d=d)
                self.assertEqual([row['location'] for row in told['locations']], answer['rows']['location'])
                self.assertEqual((told['from'], told['to'], told['depth'], told['deepest']), tuple(answer[key] for key in ('from', 'to', 'depth', 'deepest')))
                self.assertEqual(len(told['locations']), answer['n_rows'])

    def test_the_picture_is_that_of_the_command(self):
        for d, path in enumerate((FILTER, HEAT, CAPTURE)):
            for options in ({}, {'depth': 1}, {'depth': 'deepest'}):
                with self.subTest(path, **options):
                    told = run('trace', '--json', '--width', '120', path, *[f'--{key}={value}' for key, value in options.items()]).json
                    answer = self.get('timeline_picture', d=d, columns=120, **options)
                    names = [p['name'] for p in told['procedures']]
                    seen = answer['procedures']['name']
                    self.assertEqual([[None if c is None else names[c] for c in row] for row in told['picture']],
                                     [[None if c < 0 else seen[c] for c in cells(row)] for row in answer['pieces']])
                    self.assertEqual([(p['name'], p['time']) for p in told['procedures']], list(zip(seen, answer['procedures']['time']))[:len(names)])
                    self.assertTrue(answer['exact'])

    def test_a_window_by_hand(self):
        """Of simulation.afperf: load scenario 0 to 80 ms, step from 100 ms, in it sensors to 280 ms."""
        answer = self.get('timeline_picture', d=2, run=0, depth=1, columns=4, bins=2, rows='0', **{'from': 0.04, 'to': 0.12})
        names = answer['procedures']['name']
        self.assertEqual(['load scenario', 'load scenario', '<no activity>', 'step'], [names[c] for c in cells(answer['pieces'][0])])
        self.assertEqual((0.04, 0.12, [0]), (answer['from'], answer['to'], answer['rows']))
        time = dict(zip(names, answer['procedures']['time']))
        self.assertEqual((0.04, 0.02, 0.02), tuple(round(time[name], 9) for name in ('load scenario', 'step', '<no activity>')))

    def test_exactly_by_hand(self):
        """Columns are nanoseconds then; nothing of the window is left out."""
        answer = self.get('timeline_picture', d=2, run=0, depth=1, exact=1, rows='0', **{'from': 0.04, 'to': 0.12})
        names = answer['procedures']['name']
        pieces = answer['pieces'][0]
        self.assertEqual([(40_000_000, 'load scenario'), (20_000_000, '<no activity>'), (20_000_000, 'step')],
                         [(length, names[number]) for length, number in zip(pieces[::2], pieces[1::2])])
        self.assertEqual(80_000_000, answer['columns'])

    def test_exact_samples_are_the_single_ones(self):
        answer = self.get('timeline_picture', d=1, exact=1, depth='deepest', rows='0')
        ticks = self.get('timeline', d=1)['ticks_per_second']
        names = answer['procedures']['name']
        stretches = [(names[number], length) for length, number in zip(answer['pieces'][0][::2], answer['pieces'][0][1::2]) if number >= 0]
        single = []
        for one in self.get('intervals', d=1, row=0, limit=2000)['list']:
            if one['duration'] > 0 and single and single[-1][0] == one['name']:
                single[-1][1] += one['duration']
            elif one['duration'] > 0:
                single.append([one['name'], one['duration']])
        self.assertEqual([name for name, _ in single], [name for name, _ in stretches])
        for (_, seconds), (_, length) in zip(single, stretches):
            self.assertAlmostEqual(seconds, length / ticks, delta=1e-8)

    def test_exact_windows_are_parts_of_the_whole(self):
        whole = self.get('timeline_picture', d=1, exact=1, depth='deepest')
        ticks = self.get('timeline', d=1)['ticks_per_second']
        span = whole['to'] - whole['from']
        for begin, end in ((0, 0.01), (0.31, 0.33), (0.5, 0.9), (0.995, 1)):
            part = self.get('timeline_picture', d=1, exact=1, depth='deepest', **{'from': whole['from'] + begin * span, 'to': whole['from'] + end * span})
            first = round((part['from'] - whole['from']) * ticks)
            for all_pieces, pieces in zip(whole['pieces'], part['pieces']):
                expected, at = [], 0
                for length, number in zip(all_pieces[::2], all_pieces[1::2]):
                    inside = min(at + length, first + part['columns']) - max(at, first)
                    if inside > 0:
                        expected.append((inside, whole['procedures']['name'][number] if number >= 0 else None))
                    at += length
                self.assertEqual(expected, [(length, part['procedures']['name'][number] if number >= 0 else None) for length, number in zip(pieces[::2], pieces[1::2])])

    def test_single_intervals(self):
        answer = self.get('intervals', d=2, row=0, **{'from': 0.2, 'to': 0.2})
        self.assertEqual([('step', 0.1, 0.48, 0), ('sensors', 0.1, 0.28, 1)], [(i['name'], i['start'], i['end'], i['level']) for i in answer['list'][:2]])
        self.assertFalse(answer['more'])
        self.assertEqual([['tag:frame', '0']], answer['attributes'][0])
        listed = run('trace', '--intervals', '--json', CAPTURE).json
        rows = [i for i in listed if i['line'] == listed[0]['line']]
        whole = self.get('intervals', d=2, row=0, limit=2000)
        self.assertEqual([(i['event'], i['name'], i['start'], i['end']) for i in rows], [(i['event'], i['name'], i['start'], i['end']) for i in whole['list']])
        self.assertEqual((2, True), (len(self.get('intervals', d=2, row=0, limit=2)['list']), self.get('intervals', d=2, row=0, limit=2)['more']))

    def test_samples_own_time_without_gaps(self):
        answer = self.get('intervals', d=1, row=0, limit=2000)
        listed = answer['list']
        self.assertEqual(self.get('timeline', d=1)['rows']['n'][0], len(listed))
        for before, after in zip(listed, listed[1:]):
            self.assertEqual(before['end'], after['start'])
            self.assertTrue(before['start'] <= before['time'] <= before['end'])
        one = listed[7]
        middle = (one['start'] + one['end']) / 2
        found = self.get('intervals', d=1, row=0, **{'from': middle, 'to': middle})['list']
        self.assertEqual([one], found)

    def test_levels_are_call_paths(self):
        answer = self.get('timeline_depths', d=1, row=0, columns=200)
        names = answer['procedures']['name']
        levels = [[None if c < 0 else names[c] for c in cells(level)] for level in answer['levels']]
        self.assertEqual({'main thread'}, set(levels[0]))
        self.assertEqual({'main'}, set(levels[1]))
        for depth in (3, 4):
            picture = self.get('timeline_picture', d=1, rows='0', columns=200, depth=depth)
            shown = [picture['procedures']['name'][c] for c in cells(picture['pieces'][0])]
            for column, name in enumerate(shown):
                path = [level[column] for level in levels if level[column] is not None]
                self.assertEqual(path[min(depth, len(path)) - 1], name)

    def test_groups(self):
        rows, groups = (self.get('timeline', d=0)[key] for key in ('rows', 'groups'))
        self.assertEqual([0, 7], [g['first'] for g in groups])
        self.assertEqual([0] * 7 + [1] * 3, rows['gpu'])
        self.assertTrue(groups[1]['label'].startswith('device 0'))
        self.assertEqual(['rank 0', 'rank 1', 'rank 2', 'rank 3'], [g['label'] for g in self.get('timeline', d=1)['groups']])

    def test_rows_and_windows_that_are_not_there(self):
        self.assertEqual([], self.get('timeline_picture', d=0, rows='none')['pieces'])
        self.assertEqual([2, 9], self.get('timeline_picture', d=0, rows='2,9-400')['rows'])
        for rows in ('x', '1-', '-1', '1,,2', '1 2', '99999999999999999999', '1.5'):
            self.assertEqual(400, self.refused('timeline_picture', d=0, rows=rows).status, rows)
        for more in ({'columns': 0}, {'columns': 2001}, {'bins': 501}, {'depth': 0}, {'from': 'nan'}, {'from': 1e9}, {'from': 0.01, 'to': 0.005}):
            self.assertEqual(400, self.refused('timeline_picture', d=0, **more).status, more)
        self.assertEqual(400, self.refused('intervals', d=0, row=10).status)
        self.assertEqual(422, self.refused('timeline', d=3).status)
        self.assertIn('has no traces', self.refused('timeline', d=3).message)

    def test_location(self):
        answer = self.get('timeline', d=0, location='stream')
        self.assertEqual(['stream 13', 'stream 14', 'stream 15'], answer['rows']['label'])
        self.assertIn('nowhere', self.refused('timeline', d=0, location='nowhere').message)

    def test_wallclock(self):
        self.assertGreater(self.get('timeline', d=2, wallclock=1)['to'], self.get('timeline', d=2)['to'])


if __name__ == '__main__':
    main()
