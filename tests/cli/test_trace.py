"""assay trace and the table event, on small HPCToolkit databases whose samples are written down here."""
import csv
import io
import os
import re
import sqlite3
import unittest

from common import Case, SMALL, environment, run, run_on_terminal
import hpctoolkit
from hpctoolkit import Database, Node, Profile

UTF8 = environment(LC_ALL='C.UTF-8')
ENTRY, MAIN, LOOP, SOLVE, LINE, WAIT = 2, 4, 6, 8, 10, 12
T = 10 ** 18  # ns since 1970


def tree():
    return [Node(ENTRY, 'entry', 'main thread', children=[
        Node(MAIN, 'function', 'main', 'src/a.c', 3, '/bin/app', 16, children=[
            Node(LOOP, 'loop', None, 'src/a.c', 5, children=[
                Node(SOLVE, 'function', 'solve', 'src/a.c', 20, '/bin/app', 64, children=[Node(LINE, 'line', None, 'src/a.c', 22)])]),
            Node(WAIT, 'function', 'MPI_Wait', None, 0, '/lib/mpi', 8)])])]


def at(*samples):
    """Times in milliseconds."""
    return [(T + ms * 10 ** 6, context) for ms, context in samples]


# 100 ms. Mid-points of thread 0.0: 25, 60, 85. Thread 1.0 begins at 20 and ends at 80; 0.1 has one sample; 1.1 none.
LINES = {
    (0, 0): at((0, MAIN), (50, LINE), (70, WAIT), (100, 0)),
    (0, 1): at((42, SOLVE)),
    (1, 0): at((20, LINE), (40, LOOP), (80, WAIT)),
    (1, 1): [],
}


def database(lines=LINES):
    profiles = [Profile([('NODE', 0, 7), ('RANK', r, r), ('THREAD', t, t)], {(LINE, 'CPUTIME (sec)'): 1 + r}, trace) for (r, t), trace in lines.items()]
    return Database('app', roots=tree(), profiles=profiles)


class Trace(Case):
    def setUp(self):
        super().setUp()
        self.db = self.path('db')
        hpctoolkit.write_4(self.db, database())

    def trace(self, *args, **more):
        result = run('trace', self.db, *args, **more)
        self.assertEqual(result.status, 0, result)
        return result

    def json(self, *args):
        return self.trace('--json', *args).json

    def times(self, answer):
        return {p['name']: (round(p['time'] * 1000, 6), p['samples']) for p in answer['procedures']}

    # ---- JSON ----

    def test_json(self):
        a = self.json('--depth', 'deepest', '--width', '10', '--bins', '2')
        self.assertEqual((a['run'], a['from'], a['to'], a['samples'], a['exact'], a['rule']), (0, 0, 0.1, 8, True, 'auto'))
        self.assertEqual((a['depth'], a['deepest'], a['bins'], a['columns']), (3, 3, 2, 10))
        # 0.0: main 25, solve 35, wait 25, idle 15; 1.0: solve 10, main (the loop's) 30, wait 20
        self.assertEqual(self.times(a), {'main': (55, 2), 'MPI_Wait': (45, 2), 'solve': (45, 3), '<no activity>': (15, 1)})
        self.assertEqual([p['name'] for p in a['procedures']], ['main', 'solve', 'MPI_Wait', '<no activity>'])
        self.assertAlmostEqual(a['procedures'][0]['share'], 55 / 160)
        # until 50 ms: main 25 + 20, solve 25 + 10; behind: main 10, wait 45, solve 10, idle 15
        self.assertEqual([[round(x, 9) for x in p['bins']] for p in a['procedures']],
                         [[round(x, 9) for x in b] for b in ([45 / 80, 10 / 80], [35 / 80, 10 / 80], [0, 45 / 80], [0, 15 / 80])])
        self.assertEqual([(x['name'], x['samples'], x['first'], x['last'], x['longest_gap']) for x in a['locations']],
                         [('rank 0 thread 0', 4, 0, 0.1, 0.05), ('rank 0 thread 1', 1, 0.042, 0.042, 0), ('rank 1 thread 0', 3, 0.02, 0.08, 0.04)])
        first = a['locations'][0]
        self.assertEqual([(p['name'], round(p['time'], 9), p['samples']) for p in first['procedures']],
                         [('solve', 0.035, 1), ('main', 0.025, 1), ('MPI_Wait', 0.025, 1), ('<no activity>', 0.015, 1)])
        names = [p['name'] for p in a['procedures']]
        self.assertEqual(first['procedures'][0]['procedure'], names.index('solve'))
        # middles of columns: 5, 15 … 95 ms
        m, w, s, i = (names.index(n) for n in ('main', 'MPI_Wait', 'solve', '<no activity>'))
        self.assertEqual(a['picture'], [[m, m, s, s, s, s, w, w, i, i], [None] * 4 + [s] + [None] * 5, [None, None, s, m, m, m, w, w, None, None]])

    def test_rule(self):
        a = self.json('--depth', 'deepest', '--width', '10', '--rule', 'before')
        self.assertEqual(self.times(a), {'main': (90, 2), 'solve': (40, 3), 'MPI_Wait': (30, 2), '<no activity>': (0, 1)})

    def test_gpu(self):
        """What a GPU did is known from its beginning to its end."""
        db = database()
        db.profiles.append(Profile([('NODE', 0, 7), ('RANK', 0, 0), ('GPUDEVICE', 0, 0), ('GPUCONTEXT', 0, 0), ('GPUSTREAM', 3, 3)], {}, at((10, SOLVE), (30, 0), (90, WAIT), (95, 0))))
        hpctoolkit.write_4(self.db, db)
        for args, times in ([], (20, 60, 5)), (['--rule', 'nearest'], (10, 42.5, 32.5)), (['--rule', 'before'], (20, 60, 5)):
            a = self.json('--location', 'gpustream=3', '--depth', 'deepest', *args)
            self.assertEqual([x['name'] for x in a['locations']], ['gpustream 3'])
            self.assertEqual(self.times(a), {'solve': (times[0], 1), '<no activity>': (times[1], 2), 'MPI_Wait': (times[2], 1)})
        self.assertEqual([x['name'] for x in self.json()['locations']], ['rank 0 thread 0', 'rank 0 thread 1', 'rank 0 gpustream 3', 'rank 1 thread 0'])

    def test_depth(self):
        self.assertEqual(self.times(self.json('--depth', '1')), {'main thread': (145, 7), '<no activity>': (15, 1)})
        self.assertEqual(self.times(self.json('--depth', '2')), {'main': (145, 7), '<no activity>': (15, 1)})
        a = self.json()
        self.assertEqual(a['depth'], 3)
        self.assertEqual(self.times(self.json('--depth', '3', '--all-contexts')),
                         {'main': (25, 1), 'loop at src/a.c:5': (75, 4), 'MPI_Wait': (45, 2), '<no activity>': (15, 1)})

    def test_window(self):
        a = self.json('--since', '60ms', '--until', '0.08', '--depth', 'deepest', '--width', '2')
        self.assertEqual((a['from'], a['to'], a['samples']), (0.06, 0.08, 2))
        self.assertEqual(self.times(a), {'MPI_Wait': (40, 2)})
        b = self.json('--since', '60%', '--until', '80000us', '--depth', 'deepest', '--width', '2')
        self.assertEqual(a['procedures'], b['procedures'])
        self.assertEqual(self.json('--since', '90 %')['samples'], 1)

    def test_location(self):
        self.assertEqual([x['name'] for x in self.json('--location', 'rank=1')['locations']], ['thread 0'])
        a = self.json('--location', '0')
        self.assertEqual([x['name'] for x in a['locations']], ['thread 0', 'thread 1'])
        self.assertEqual(a['samples'], 5)

    # ---- tables ----

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.trace('--csv', '--depth', 'deepest').out)))
        self.assertEqual(len(rows), 4 + 1 + 3)
        self.assertEqual([(r['name'], r['procedure'], round(float(r['time']), 9), r['samples']) for r in rows[-3:]],
                         [('rank 1 thread 0', 'main', 0.03, '1'), ('rank 1 thread 0', 'MPI_Wait', 0.02, '1'), ('rank 1 thread 0', 'solve', 0.01, '1')])

    def test_summary_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.trace('--csv', '--depth', 'deepest', '--summary', '--bins', '2').out)))
        self.assertEqual([(float(r['from']), float(r['to']), r['procedure'], round(float(r['time']), 9)) for r in rows],
                         [(0, 0.05, 'main', 0.045), (0, 0.05, 'solve', 0.035), (0.05, 0.1, 'main', 0.01), (0.05, 0.1, 'solve', 0.01),
                          (0.05, 0.1, 'MPI_Wait', 0.045), (0.05, 0.1, '<no activity>', 0.015)])
        for begin in ('0', '0.05'):
            self.assertAlmostEqual(sum(float(r['share']) for r in rows if r['from'] == begin), 1)

    def test_samples(self):
        rows = self.json('--samples', '--location', 'rank=0', '--depth', 'deepest')
        self.assertEqual([(r['name'], r['time'], r['time_raw'], r['procedure']) for r in rows],
                         [('thread 0', 0, T, 'main'), ('thread 0', 0.05, T + 50000000, 'solve'), ('thread 0', 0.07, T + 70000000, 'MPI_Wait'),
                          ('thread 0', 0.1, T + 100000000, '<no activity>'), ('thread 1', 0.042, T + 42000000, 'solve')])
        self.assertEqual(rows[1]['path'], 'main thread->main->loop at src/a.c:5->solve->line src/a.c:22')
        shown = self.trace('--samples', '-n', '2')
        self.assertEqual(len(shown.out.splitlines()), 3)
        self.assertIn('the first 2 samples', shown.err)
        self.assertEqual('', self.trace('--samples', '-n', '8').err)

    def test_samples_for_people(self):
        lines = [line.split() for line in self.trace('--samples', '--location', '0.0', '--depth', '2').out.splitlines()]
        self.assertEqual(lines[0], ['location', 'time', '[s]', 'procedure', 'call', 'path'])
        self.assertEqual(lines[2], ['thread', '0', '0.05', 'main', 'main', 'thread->main->solve->line', 'a.c:22'])
        self.assertEqual(lines[4], ['thread', '0', '0.1', '<no', 'activity>', '-'])
        for columns in (40, 60, 80, 120, 200):
            shown = run_on_terminal('trace', self.db, '--samples', columns=columns, env=environment(TERM='xterm', NO_COLOR='1', LC_ALL='C.UTF-8')).out.splitlines()
            self.assertLessEqual(max(map(len, shown)), columns)
            self.assertRegex(shown[3], '  solve  .*a.c:22$')

    def test_locations_on_narrow_terminals(self):
        for columns in (40, 60, 80, 200):
            shown = run_on_terminal('trace', self.db, '--by-location', columns=columns, env=environment(TERM='xterm', NO_COLOR='1', LC_ALL='C.UTF-8')).out
            table = shown.split('\n\n')[1].splitlines()
            self.assertLessEqual(max(map(len, table)), columns, table)
            self.assertTrue(table[1].startswith('rank 0 thread') and '%' in table[1], table)
            self.assertEqual('samples' in table[0], columns > 60)

    def test_several_files(self):
        again = self.path('db2')
        hpctoolkit.write_4(again, database())
        self.assertEqual([a['path'] for a in self.json(again)], [self.db, again])
        rows = list(csv.DictReader(io.StringIO(self.trace(again, '--csv').out)))
        self.assertEqual({r['file'] for r in rows}, {self.db, again})

    # ---- pictures ----

    def test_picture(self):
        shown = self.trace('--depth', 'deepest', '--width', '57', '--ascii').out.splitlines()
        self.assertEqual(shown[0], f'{self.db}  3 locations, 100.0 ms, 8 samples, depth 3')
        # 40 columns of 2.5 ms, their middles at 1.25, 3.75 …
        self.assertEqual(shown[2:5], ['rank 0 thread 0|' + 'm' * 10 + 's' * 14 + 'W' * 10 + '.' * 6,
                                      'rank 0 thread 1|' + ' ' * 16 + 's',
                                      'rank 1 thread 0|' + ' ' * 8 + 's' * 4 + 'm' * 12 + 'W' * 8])
        self.assertEqual(shown[5], ' ' * 15 + '+' + '-' * 20 + '+' + '-' * 18 + '+')
        self.assertEqual(shown[6].split(), ['[ms]', '0', '50', '100'])
        legend = [(line.split()[0], line.split()[1], line.split()[-1]) for line in shown[9:]]
        self.assertEqual(legend, [('m', '34.4', 'main'), ('s', '28.1', 'solve'), ('W', '28.1', 'MPI_Wait'), ('.', '9.4', 'activity>')])

    def test_limit_and_order(self):
        """What has a letter stands below the picture, and the other way round."""
        shown = self.trace('--depth', 'deepest', '-n', '2', '--sort', 'name', '--ascii').out
        self.assertEqual(re.findall(r'^  (\S)  ', shown, re.M), ['m', 's', '*'])
        picture = ''.join(line.partition('|')[2] for line in shown.splitlines() if '|' in line)
        self.assertEqual(set(picture), set(' ms*.'))
        self.assertIn('2 more (37.5 %)', shown)
        self.assertEqual([p['name'] for p in self.json('--depth', 'deepest', '--sort', 'name')['procedures']], ['<no activity>', 'MPI_Wait', 'main', 'solve'])
        self.assertEqual([p['name'] for p in self.json('--depth', 'deepest', '--sort', 'samples')['procedures']], ['solve', 'main', 'MPI_Wait', '<no activity>'])

    def test_terminal(self):
        for columns in (50, 80, 120):
            shown = run_on_terminal('trace', self.db, columns=columns, env=environment(TERM='xterm-256color', LC_ALL='C.UTF-8'))
            self.assertEqual(shown.status, 0)
            self.assertIn('\033[48;5;', shown.out)
            plain = re.sub(r'\033\[[0-9;]*m', '', shown.out)
            quiet = run_on_terminal('trace', self.db, columns=columns, env=environment(TERM='xterm', NO_COLOR='1', LC_ALL='C.UTF-8')).out
            self.assertNotIn('\033', quiet)
            for text in (plain, quiet):
                body = text.splitlines()[2:] if columns == 50 else text.splitlines()[1:]
                self.assertTrue(all(len(line) <= columns for line in body if self.folder not in line), text)
            self.assertIn('│', quiet)

    def test_rows_are_merged(self):
        lines = {(r, 0): at((0, MAIN), (50, LINE if r % 4 else WAIT), (100, 0)) for r in range(40)}
        hpctoolkit.write_4(self.db, database(lines))
        result = self.trace('--rows', '10', '--width', '60', '--ascii')
        rows = [line for line in result.out.splitlines() if '|' in line]
        self.assertEqual(len(rows), 10)
        self.assertTrue(rows[3].startswith('rank 12 thread 0 +3|'), rows[3])
        self.assertTrue(all('s' in row.partition('|')[2] and 'W' not in row.partition('|')[2] for row in rows))
        self.assertIn('40 locations on 10 rows', result.err)
        self.assertEqual(sum('|' in line for line in self.trace('--rows', '0', '--ascii').out.splitlines()), 40)

    def test_summary(self):
        out = self.trace('--summary', '--depth', 'deepest', '--width', '25', '--rows', '4', '--ascii').out
        rows = [line.partition('|')[2] for line in out.splitlines() if '|' in line]
        self.assertEqual(len(rows), 4)
        # three locations: at the beginning only one is there, and in main
        self.assertEqual(rows[3][0], 'm')
        self.assertEqual(rows[1][:1].strip(), '')

    def test_by_location(self):
        out = self.trace('--by-location', '--depth', 'deepest', '--ascii').out
        self.assertRegex(out, r'rank 1 thread 0 +20\.0 +80\.0 +40\.0 +3  m 50\.0 %, W 33\.3 %, s 16\.7 %')

    # ---- order, generations, damage ----

    def test_lines_out_of_order(self):
        lines = dict(LINES)
        lines[0, 0] = [lines[0, 0][i] for i in (2, 0, 3, 1)]
        expected = self.json('--depth', 'deepest')
        hpctoolkit.write_4(self.db, database(lines))
        self.assertEqual(self.json('--depth', 'deepest'), expected)
        self.assertEqual(run('sql', '--json', self.db, "select start_raw - 1000000000000000000 as t from event where location = 2").json,
                         [{'t': 0}, {'t': 50000000}, {'t': 70000000}, {'t': 100000000}])

    def test_events(self):
        rows = run('sql', '--json', self.db, '''select e.id, l.name, c.source_id as context, e.name as what, e.kind, e.start, e."end", e.start_raw
            from event e join location l on l.id = e.location left join context c on c.id = e.context order by e.id''').json
        self.assertEqual(len(rows), 8)
        self.assertEqual(rows[1], {'id': 1, 'name': 'thread 0', 'context': str(LINE), 'what': 'line src/a.c:22', 'kind': 'sample', 'start': 0.05, 'end': None, 'start_raw': T + 50000000})
        self.assertEqual(rows[3]['what'], '<root>')
        out = self.path('out.sqlite')
        self.assertEqual(run('convert', self.db, out).status, 0)
        written = sqlite3.connect(out)
        self.addCleanup(written.close)
        self.assertEqual(written.execute('select id, start_raw, "end" from event order by id').fetchall(), [(r['id'], r['start_raw'], None) for r in rows])
        info = run('info', '--json', self.db).json
        self.assertEqual((info['events'], info['duration']), (8, 0.1))
        self.assertIn('samples of 3 locations, over 100.0 ms', run('info', self.db).out)

    def test_nothing_to_show(self):
        bare = self.path('bare')
        hpctoolkit.write_4(bare, database(), trace=False)
        result = run('trace', bare)
        self.assertEqual((result.status, result.out), (3, ''))
        self.assertIn('has no traces', result.err)
        self.assertEqual(len(result.err.splitlines()), 1)
        text = self.write('small.txt', SMALL)
        self.assertEqual(run('trace', text).status, 3)
        self.assertEqual(run('trace', self.path('nowhere')).status, 3)
        self.assertFails(run('trace', self.db, '--location', '1.1'), 2, 'no traces of 1.1')

    def test_wrong_usage(self):
        for args in (['--depth', '0'], ['--depth', 'x'], ['--since', 'soon'], ['--since', '5parsec'], ['--since', '80%', '--until', '20%'], ['--since', '900'], ['--bins', '0'],
                     ['--summary', '--samples'], ['--rule', 'x'], ['--sort', 'x'], ['--width', 'x'], ['--rows', '-1'], ['--location', 'rank=9']):
            result = run('trace', self.db, *args)
            self.assertEqual((result.status, result.out), (2, ''), (args, result))
            self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertEqual(run('trace').status, 2)

    def test_a_window_without_samples(self):
        for args, message in ((['--until', '-3'], "--until cannot be '-3'"), (['--since', '-1%'], "--since cannot be '-1%'"),
                              (['--since', '5', '--until', '9'], '--since 5 leaves nothing: the trace ends at 100.0 ms'),
                              (['--since', '80%', '--until', '20%'], '--since 80% lies behind --until 20%'),
                              (['--location', '1.0', '--until', '1us'], '--until 1us leaves nothing: the trace begins at ')):
            with self.subTest(args):
                result = run('trace', self.db, *args)
                self.assertEqual((result.status, result.out), (2, ''))
                self.assertTrue(result.err.startswith('assay: ' + message), result.err)
        self.assertEqual(self.json('--since', '100%')['samples'], 1)


if __name__ == '__main__':
    unittest.main()
