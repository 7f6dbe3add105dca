"""assay trace, sql, info and convert on intervals: small AFPerf captures that are written down here."""
import csv
import io
import unittest

from common import Case, environment, run, run_on_terminal

UTF8 = environment(LC_ALL='C.UTF-8')

# In milliseconds of the first run: main 0-100 with solve 10-50 (kernel 20-40 in it) and 60-80; io 10-50 and 30-70; paused 85-95.
# The second one begins two seconds later and has main for a second.
CAPTURE = '''# AFPerf v1     
RunInfo,1000,milliseconds,1700000000.5,1.0.0,0xa,app,1.0,size=1
RegionStart,1000,0xa,0x1,main,
RegionStart,1010,0xa,0x2,solve,level=7
RegionStart,1020,0xa,0x3,kernel,
RegionStop,1040,0x3
RegionStop,1050,0x2
RegionStart,1060,0xa,0x4,solve,level=8
RegionStop,1080,0x4
RegionStop,1100,0x1
SectionInfo,,0xa,0x9,io,
SectionStart,1010,0x9,1
SectionStart,1030,0x9,2
SectionStop,1050,0x9,1
SectionStop,1070,0x9,2
PauseResume,1095,1085,0xa
RunInfo,5,seconds,1700000002.5,1.0.0,0xb,app,1.0,size=2
RegionStart,5,0xb,0x21,main,
RegionStop,6,0x21
'''


class Intervals(Case):
    def setUp(self):
        super().setUp()
        self.capture = self.write('capture.afperf', CAPTURE)

    def trace(self, *args, **more):
        result = run('trace', self.capture, *args, **more)
        self.assertEqual(result.status, 0, result)
        return result

    def json(self, *args):
        return self.trace('--json', *args).json

    def times(self, answer):
        """Milliseconds and number of intervals of each procedure."""
        return {p['name']: (round(p['time'] * 1000, 6), p['intervals']) for p in answer['procedures']}

    def test_depths(self):
        expected = {
            '1': {'main': (90, 1), 'io': (80, 2), '<paused>': (10, 1)},
            '2': {'main': (30, 1), 'solve': (60, 2), 'io': (80, 2), '<paused>': (10, 1)},
            'deepest': {'main': (30, 1), 'solve': (40, 2), 'kernel': (20, 1), 'io': (80, 2), '<paused>': (10, 1)},
        }
        for depth, times in expected.items():
            answer = self.json('--run', '0', '--depth', depth)
            self.assertEqual(self.times(answer), times, depth)
            self.assertEqual((answer['intervals'], answer['runs'], answer['run'], answer['pauses'], answer['deepest']), (6, 1, 0, 1, 3))
            self.assertEqual((answer['from'], answer['to'], answer['exact']), (0, 0.1, True))

    def test_picture(self):
        answer = self.json('--run', '0', '--depth', '2', '--width', '10')
        names = [p['name'] for p in answer['procedures']]
        rows = [[None if n is None else names[n] for n in row] for row in answer['picture']]
        main, solve, paused, section = 'main', 'solve', '<paused>', 'io'
        self.assertEqual(rows, [[main, solve, solve, solve, solve, main, solve, solve, main, paused],  # 5 ms each of both: the first
                                [None] + 4 * [section] + 5 * [None],
                                3 * [None] + 4 * [section] + 3 * [None]])
        self.assertEqual([(r['name'], r['run'], r['kind'], r['section'], r.get('lane'), r['location'], r['intervals']) for r in answer['locations']],
                         [('regions', 0, 'region', None, None, None, 4), ('io', 0, 'section', 'io', 0, None, 1), ('io #2', 0, 'section', 'io', 1, None, 1)])
        letters = {p['name']: p['letter'] for p in answer['procedures']}
        self.assertEqual(letters['<paused>'], '=')

    def test_window(self):
        answer = self.json('--run', '0', '--depth', '2', '--since', '45ms', '--until', '90%')
        self.assertEqual(self.times(answer), {'main': (15, 0), 'solve': (25, 1), 'io': (30, 0), '<paused>': (5, 1)})
        nested = answer['locations'][0]
        self.assertEqual((nested['first'], nested['last'], nested['intervals']), (0.045, 0.09, 1))

    def test_gaps(self):
        answer = self.json('--depth', '1')
        self.assertEqual([r['longest_gap'] for r in answer['locations']], [0, 0, 0, 0])
        self.capture = self.write('gaps.afperf', CAPTURE.replace('RegionStart,1000,0xa,0x1,main,\n', '').replace('RegionStop,1100,0x1\n', ''))
        answer = self.json('--depth', '1', '--run', '0')
        self.assertEqual(answer['locations'][0]['longest_gap'], 0.01)
        self.assertEqual(self.times(answer)['<no activity>'], (10, 0))  # 50-60; behind 80 there is only the pause

    def test_runs(self):
        answer = self.json()
        self.assertEqual((answer['run'], answer['runs'], answer['from'], answer['to']), (None, 2, 0, 1))
        self.assertEqual([r['name'] for r in answer['locations']], ['size=1', 'size=1 io', 'size=1 io #2', 'size=2'])
        answer = self.json('--wallclock')
        self.assertEqual((answer['from'], answer['to']), (0, 3))
        self.assertEqual([(r['first'], r['last']) for r in answer['locations'] if r['kind'] == 'region'], [(0, 0.1), (2, 3)])
        # no tag that tells them apart
        self.capture = self.write('same.afperf', CAPTURE.replace('size=2', 'size=1'))
        self.assertEqual([r['name'] for r in self.json()['locations']], ['run 0', 'run 0 io', 'run 0 io #2', 'run 1'])

    def test_text(self):
        text = self.trace('--run', '0', '--depth', '2', '--width', '40', env=UTF8).out
        self.assertIn('1 run, 100.0 ms, 6 intervals, depth 2 of 3', text)
        self.assertRegex(text, r'(?m)^regions│m+s+m+s+m*=+m+$')
        self.assertRegex(text, r'(?m)^  io   │ +i+$')
        self.assertRegex(text, r'(?m)^  io #2│ +i+$')
        self.assertRegex(text, r'(?m)^  = +5\.6 % .* 10\.00? +1 +1  <paused>$')
        self.assertRegex(self.trace('--run', '0', '--by-location', env=UTF8).out, r'(?m)^regions +0 +100\.0 .* 4 ')
        self.assertIn('share', self.trace('--summary').out)
        self.assertTrue(all(len(line) <= 50 for line in run_on_terminal('trace', self.capture, columns=50, env=environment(NO_COLOR='1', LC_ALL='C.UTF-8')).out.splitlines()))

    def test_lists(self):
        rows = self.trace('--intervals', '--json', '--run', '0').json
        self.assertEqual([(r['name'], r['start'], r['end'], r['source_id'], r['kind'], r['line']) for r in rows],
                         [('main', 0, 0.1, '0x1', 'region', 'regions'), ('solve', 0.01, 0.05, '0x2', 'region', 'regions'),
                          ('kernel', 0.02, 0.04, '0x3', 'region', 'regions'), ('solve', 0.06, 0.08, '0x4', 'region', 'regions'),
                          ('io', 0.01, 0.05, '0x9', 'section', 'io'), ('io', 0.03, 0.07, '0x9', 'section', 'io #2')])
        self.assertEqual(rows[2]['path'], 'main->solve->kernel')
        result = self.trace('--intervals', '--since', '15ms', '-n', '1')
        self.assertIn('the first 1 intervals', result.err)
        self.assertRegex(result.out, r'kernel +main->solve->kernel')
        table = list(csv.DictReader(io.StringIO(self.trace('--csv', '--run', '0', '--depth', '2').out)))
        self.assertEqual({(r['name'], r['procedure']): (float(r['time']), int(r['samples'])) for r in table},
                         {('regions', 'main'): (0.03, 1), ('regions', 'solve'): (0.06, 2), ('regions', '<paused>'): (0.01, 1),
                          ('io', 'io'): (0.04, 1), ('io #2', 'io'): (0.04, 1)})

    def test_what_cannot_be(self):
        for args, status, words in ((('--samples',), 2, 'has no samples; --intervals'), (('--run', '2'), 2, 'there is no run 2'),
                                    (('--since', '5'), 2, 'leaves nothing'), (('--intervals', '--summary'), 2, 'exclude each other')):
            result = run('trace', self.capture, *args)
            self.assertEqual(result.status, status, result)
            self.assertIn(words, result.err)
        empty = self.write('empty.afperf', '# AFPerf v1     \n')
        result = run('trace', empty)
        self.assertEqual(result.status, 3, result)
        self.assertIn('has no traces', result.err)

    def test_many_sections_share_lines(self):
        sections = [f'SectionInfo,,0xa,{i + 256:#x},s{i},\nSectionStart,{1000 + i % 50},{i + 256:#x},1\nSectionStop,{1001 + i % 50},{i + 256:#x},1\n' for i in range(2000)]
        self.capture = self.write('many.afperf', CAPTURE.split('SectionInfo')[0] + ''.join(sections))
        answer = self.json()
        self.assertLess(len(answer['locations']), 70)  # 40 at a time
        self.assertEqual(answer['intervals'], 2004)
        self.assertEqual({r['section'] for r in answer['locations']}, {None})

    def test_other_verbs(self):
        rows = run('sql', self.capture, '--json', "select e.source_id, e.name, a.value from event e join attribute a on a.owner = 'event' and a.owner_id = e.id "
                   "where a.key = 'tag:level' order by e.id").json
        self.assertEqual([tuple(r.values()) for r in rows], [('0x2', 'solve', '7'), ('0x4', 'solve', '8')])
        rows = run('sql', self.capture, '--json', "select id from event where source_id = '0x3'").json
        self.assertEqual(len(rows), 1)
        self.assertRegex(run('info', self.capture).out, r'events +8  region \(5\), section \(2\), pause \(1\), over up to 1\.000 s')
        one = self.write('one.afperf', CAPTURE.split('RunInfo,5,')[0])
        result = run('convert', '--to', 'cube', one, self.path('out.cubex'))
        self.assertIn('7 events', result.err)
        result = run('convert', self.capture, self.path('out.sqlite'))
        self.assertEqual(result.status, 0, result)


if __name__ == '__main__':
    unittest.main()
