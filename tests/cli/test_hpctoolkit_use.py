"""What somebody with an HPCToolkit database asks first: which metric is shown, which places and contexts are compared. Expected numbers are reckoned by hand
from the costs of hpctoolkit.small(): solve itself costs 2.25 at rank 0 (2 and 0.25 in its loops) and 3 at rank 1."""
import csv
import io
import os
import re
import unittest

from common import Case, run, run_on_terminal
import hpctoolkit

TIME = 'CPUTIME (sec)'
WRITERS = {'2021': hpctoolkit.write_2021, '4': hpctoolkit.write_4, 'xml': hpctoolkit.write_xml}


def without_time():
    """small() with two metrics of time before the others that nobody measured anything of."""
    db = hpctoolkit.small()
    db.metrics = ['GMEM (sec)', 'GSYNC (sec)'] + list(db.metrics)
    return db


class Use(Case):
    def setUp(self):
        super().setUp()
        for name, write in WRITERS.items():
            write(self.path(name), hpctoolkit.small())

    def first_line(self, *arguments):
        result = run(*arguments)
        self.assertEqual((0, ''), (result.status, result.err))
        return result.out.splitlines()[0]

    def rows(self, *arguments):
        result = run('stat', '--csv', *arguments)
        self.assertEqual(0, result.status, result)
        return {row['callpath'].split('->')[-1]: row for row in csv.DictReader(io.StringIO(result.out))}

    def test_metric_shown_first_has_values(self):
        for name in ('2021', '4'):
            with self.subTest(name):
                WRITERS[name](self.path('gpu'), without_time())
                self.assertIn('CPUTIME 9.125 s', self.first_line('tree', self.path('gpu')))
                self.assertTrue(self.first_line('stat', self.path('gpu')).startswith(TIME + ','))

    def test_metric_shown_for_places_lies_at_places(self):
        # The xml form has CPUTIME (sec):Sum of the whole program before CPUTIME (sec) of each thread.
        self.assertIn(':Sum', self.first_line('tree', self.path('xml')))
        self.assertTrue(self.first_line('stat', self.path('xml')).startswith(TIME + ','))
        self.assertIn('CPUTIME 4.750 s', self.first_line('tree', self.path('xml'), '--location', 'rank=1'))  # 0.25 + 3 + 1.5

    def test_sides_of_a_metric_are_no_others(self):
        db = hpctoolkit.small()
        db.metrics = [TIME]
        hpctoolkit.write_4(self.path('one'), db)
        result = run('tree', self.path('one'), '--metric', 'flops')
        self.assertEqual((2, f"assay: there is no metric 'flops'; there is '{TIME}'\n"), (result.status, result.err))

    def test_people_compare_calls(self):
        for name in WRITERS:
            with self.subTest(name):
                lines = run('stat', self.path(name)).out.splitlines()[2:]
                paths = [line.split('  ')[0] for line in lines]
                self.assertIn('<program root>->main->solve', paths)
                self.assertFalse([p for p in paths if 'loop' in p or 'line' in p or 'call ' in p or '<context' in p], paths)
                self.assertIn('->main->solve->loop at solve.c:24 ', run('stat', self.path(name), '--all-contexts').out)

    def test_instructions_nobody_owns_are_compared(self):
        db = hpctoolkit.small()
        alien = hpctoolkit.Node(50, 'instruction', module='/usr/lib/other.so', offset=0x77)
        db.roots[0].children[0].children.append(alien)
        db.profiles[0].costs[50, TIME] = 4.0
        hpctoolkit.write_4(self.path('alien'), db)
        out = run('stat', self.path('alien')).out
        self.assertIn('insn other.so+0x77', out)
        self.assertNotIn('insn libmath.so', out)  # exp has it

    def test_stat_of_some_locations(self):
        for name in ('2021', '4'):
            with self.subTest(name):
                every = self.rows('--metric', TIME, '--exclusive', '--match', 'main->((call|line|insn) [^>]*->)?solve$', self.path(name))
                some = self.rows('--metric', TIME, '--exclusive', '--match', 'main->((call|line|insn) [^>]*->)?solve$', '--location', 'thread=0', self.path(name))
                one = self.rows('--metric', TIME, '--exclusive', '--match', 'main->((call|line|insn) [^>]*->)?solve$', '--location', 'rank=0', self.path(name))
                self.assertEqual(['2.625', '2.625', '2.25'], [r['solve']['mean'] for r in (every, some, one)])  # the stream takes no part
                self.assertEqual(['2.25', '2.25', '2.25'], [str(float(r['solve']['min'])) for r in (every, some, one)])
        head = self.first_line('stat', self.path('4'), '--location', 'thread=0')
        self.assertEqual('CPUTIME (sec), exclusive, over 2 processes (thread=0)', head)
        self.assertIn('over 1 process (rank=1)', self.first_line('stat', self.path('4'), '--by', 'process', '--location', 'rank=1'))

    def test_streams_and_threads_have_statistics_of_their_own(self):
        # Time of rank 0, thread 0: 2.25 of solve and none of exp; of rank 1: 3 and 1.5. Kernels: 4 and 2 at two of three streams. Copies: 0.5 at thread 0 of rank 1 and at one stream.
        db = hpctoolkit.small()
        db.metrics += ['GKER (sec)', 'GXCOPY (sec)']
        del db.profiles[0].costs[17, TIME]
        for stream in (2, 3):
            db.profiles.append(hpctoolkit.Profile([('NODE', 0, 713047168), ('RANK', 1, 1), ('GPUDEVICE', 0, 0), ('GPUCONTEXT', 0, 0), ('GPUSTREAM', stream, stream)]))
        db.profiles[2].costs[8, 'GKER (sec)'] = 4.0
        db.profiles[3].costs[8, 'GKER (sec)'] = 2.0
        db.profiles[1].costs[17, 'GXCOPY (sec)'] = db.profiles[4].costs[17, 'GXCOPY (sec)'] = 0.5
        for name in ('2021', '4'):
            with self.subTest(name):
                WRITERS[name](self.path('gpu-' + name), db)
                found = run('stat', '--json', self.path('gpu-' + name)).json
                self.assertEqual(5, found['locations'])
                rows = {c['path'].split('->')[-1]: c['metrics'] for c in found['contexts'] if c['path'].count('solve') < 2}
                shown = {(path, metric, kind): [rows[path][metric][kind][key] for key in ('count', 'sum', 'mean', 'min', 'median', 'imbalance')]
                         for path, metric, kind in (('solve', TIME, 'exclusive'), ('exp', TIME, 'inclusive'), ('solve', 'GKER (sec)', 'exclusive'), ('exp', 'GXCOPY (sec)', 'inclusive'))}
                self.assertEqual({('solve', TIME, 'exclusive'): [2, 5.25, 2.625, 2.25, 2.625, 3 / 2.625 - 1],
                                  ('exp', TIME, 'inclusive'): [2, 1.5, 0.75, 0, 0.75, 1],
                                  ('solve', 'GKER (sec)', 'exclusive'): [2, 6, 3, 2, 3, 4 / 3 - 1],
                                  ('exp', 'GXCOPY (sec)', 'inclusive'): [3, 1, 1 / 3, 0, 0.5, 0.5]}, shown)  # both threads, and the stream that copied
                self.assertEqual('CPUTIME (sec), exclusive, over 2 of 5 locations of 2 processes', self.first_line('stat', self.path('gpu-' + name)))

    def test_stat_of_places_that_are_not_there(self):
        self.assertFails(run('stat', self.path('4'), '--location', 'rank=7'), 2, "'rank=7'")
        self.assertFails(run('stat', self.path('4'), '--location', 'rank=1', '--derive', 'x=cycles*2', '--metric', 'x'), 2, 'leave out --location')

    def test_processes_are_only_told_where_there_are_any(self):
        db = hpctoolkit.small()
        for i, profile in enumerate(db.profiles):
            profile.elements = [('NODE', 0, 713047168), ('THREAD', i, i)]
        hpctoolkit.write_4(self.path('threads'), db)
        self.assertEqual('CPUTIME (sec), exclusive, over 3 locations', self.first_line('stat', self.path('threads')))

    def test_names_of_places_are_short_for_people(self):
        db = hpctoolkit.small()
        db.profiles[0].costs[8, TIME] += 1
        main = db.roots[0].children[0]
        main.children.append(hpctoolkit.Node(50, 'function', 'output', './src/out.c', 3, children=[hpctoolkit.Node(51, 'line', file='./src/out.c', line=4)]))
        hpctoolkit.write_4(self.path('new'), db)
        shown = run('diff', self.path('4'), self.path('new')).out
        self.assertIn('─loop at solve.c:24\n', shown)
        self.assertIn('─line solve.c:25\n', shown)
        self.assertIn('only in new: output\n', shown)
        self.assertIn('─loop at ./src/solve.c:24', run('diff', self.path('4'), self.path('new'), '--full-names').out)
        self.assertEqual(['output', 'line ./src/out.c:4'], run('diff', '--json', self.path('4'), self.path('new')).json['only_in_target'])

    def test_differences_have_one_side_in_a_column(self):
        db = hpctoolkit.small()
        db.profiles[0].costs[8, TIME] += 1
        hpctoolkit.write_4(self.path('new'), db)
        tree = run('diff', self.path('4'), self.path('new'), '--all').out.splitlines()
        self.assertRegex(tree[2], r'^ *9\.12 +10\.12 +\+1\.00 +\+11\.0 +0 +<program root>$')  # and not the root that has no name
        functions = run('diff', self.path('4'), self.path('new'), '--flat', '--all').out
        self.assertRegex(functions, r'(?m)^ *- +- +- +- +\+1\.0+  <program root>$')  # does nothing itself
        self.assertRegex(functions.splitlines()[2], r'^ *5\.37?[05]? +6.* solve ')  # and is not first for what is below it
        self.assertRegex(functions, r'(?m)^ *5\.3[78]5? +6\.3[78]5? +\+1\.0+ +\+18\.6 +\+1\.0+  solve ')

    def test_values_stored_and_added_up_are_compared(self):
        """One file has both kinds of values for each call path, the other adds them up along the tree: inclusive ones are the same."""
        self.assertEqual(0, run('convert', '-q', self.path('4'), self.path('a.cubex')).status)
        result = run('diff', self.path('4'), self.path('a.cubex'))
        self.assertIn("'CPUTIME (sec)' is stored for each call path in one file, and added up", result.err)
        self.assertIn('CPUTIME (sec) 9.125 s → 9.125 s\n', result.out)
        rows = list(csv.DictReader(run('diff', '--csv', self.path('4'), self.path('a.cubex')).out.splitlines()))
        self.assertEqual([0] * len(rows), [float(row['change']) for row in rows])
        self.assertGreater(len(rows), 10)
        many = hpctoolkit.small()
        many.metrics, many.extra = [f'M{i}' for i in range(12)], {}
        hpctoolkit.write_4(self.path('many'), many)
        self.assertIn(': M0, M1, M2, M3, M4, M5, M6, M7 and 4 more\n', run('diff', self.path('many'), self.path('4')).err)

    def test_no_values_at_a_place(self):
        for verb in ('tree', 'top'):
            result = run(verb, self.path('4'), '--location', 'gpustream')
            self.assertEqual((0, 'there are no values at gpustream'), (result.status, result.out.splitlines()[-1]))

    def test_a_path_that_is_shown_names_a_context(self):
        for path in ('main->solve', '<program root>->main->solve', 'main->call main.c:9->solve', 'main->call ./src/main.c:9->solve'):
            with self.subTest(path):
                result = run('stat', self.path('2021'), '--context', path)
                self.assertEqual((0, '<program root>->main->call main.c:9->solve'), (result.status, result.out.splitlines()[1]))
        self.assertFails(run('stat', self.path('2021'), '--context', 'exp->solve'), 2, "there are '<program root>', ")

    def test_a_metric_is_named_as_tables_show_it(self):
        for name in ('CPUTIME', 'cputime', 'CPUTIME (sec)', 'Cputime (Sec)'):
            result = run('tree', self.path('4'), '--metric', name)
            self.assertEqual((0, '  CPUTIME 9.125 s, 3 locations'), (result.status, result.out.splitlines()[0][len(self.path('4')):]), result.err)
        self.assertFails(run('tree', self.path('4'), '--metric', 'CPUTIM'), 2, "did you mean 'CPUTIME (sec)'?")

    def test_extremes_have_a_unit_where_the_mean_is_left_out(self):
        heads = {columns: run_on_terminal('stat', self.path('4'), columns=columns).out.splitlines()[1] for columns in (40, 80, 140)}
        self.assertRegex(heads[140], r'mean \[s\]  stddev +min +at +max +at')
        self.assertRegex(heads[80], r'sum \[s\]  max \[s\] +at')
        self.assertRegex(heads[40], r'call path +max \[s\] +at  imbalance')

    def test_one_place_has_nothing_to_compare(self):
        lines = run('stat', self.path('4'), '--location', '0.0', '-n', '1').out.splitlines()
        self.assertEqual(['call path', 'value [s]'], re.split('  +', lines[1]))
        self.assertEqual(['<program root>->main->solve', '2.250'], re.split('  +', lines[2]))
        self.assertEqual('  value 2.250 s', run('stat', self.path('4'), '--location', '0.0', '--context', 'main->solve').out.splitlines()[2])


class Difference(Case):
    def test_contexts_without_a_place_are_left_out(self):
        db = hpctoolkit.small()
        db.profiles[0].costs[8, TIME] += 1  # solve itself: 5.25 -> 6.25
        db.profiles[0].costs[8, 'cycles'] += 1e9
        db.extra = {(1, 41, TIME, 'execution'): 5.0, (1, 41, TIME, 'function'): 5.0}
        hpctoolkit.write_4(self.path('old'), hpctoolkit.small())
        hpctoolkit.write_4(self.path('new'), db)
        result = run('diff', self.path('old'), self.path('new'))
        self.assertEqual((0, ''), (result.status, result.err))  # the sides of a metric are no metrics that are missing
        self.assertNotIn('<context', result.out)
        self.assertIn('+1.00 s (+11.0 %)', result.out.splitlines()[0])
        names = [line.split(': ', 1)[1] for line in result.out.splitlines() if line.startswith('only in')]
        self.assertEqual([], names)
        head = run('diff', self.path('old'), self.path('new'), '--metric', 'cycles').out.splitlines()[0]
        self.assertIn('cycles 10,100,000,000 → 11,100,000,000, +1,000,000,000', head)


class Naming(Case):
    """How a database is named, and what its card says."""

    def test_any_file_names_it(self):
        for name, write in WRITERS.items():
            write(self.path(name), hpctoolkit.small())
            expected = run('info', '--json', self.path(name)).json
            for file in sorted(os.listdir(self.path(name))):
                with self.subTest(f'{name}/{file}'):
                    result = run('info', '--json', os.path.join(self.path(name), file))
                    self.assertEqual(0, result.status, result)
                    self.assertEqual([expected[k] for k in ('format', 'contexts', 'values')], [result.json[k] for k in ('format', 'contexts', 'values')])
            self.assertEqual(0, run('info', self.path(name) + '/').status)

    def test_merged_traces_name_it(self):
        hpctoolkit.write_xml(self.path('xml'), hpctoolkit.small())
        # No lines: type 2, number of threads 0, as experiment.mt begins (big-endian)
        self.write('xml/experiment.mt', '\0\0\0\2\0\0\0\0')
        result = run('info', '--json', self.path('xml/experiment.mt'))
        self.assertEqual((0, 'hpctoolkit-xml'), (result.status, result.json['format']))
        self.write('experiment.mt', '\0\0\0\2\0\0\0\0')  # without a database around it
        self.assertEqual(3, run('info', self.path('experiment.mt')).status)

    def test_directory_of_databases(self):
        os.mkdir(self.path('runs'))
        result = run('info', self.path('runs'))
        self.assertEqual((3, f'assay: {self.path("runs")}: is a directory without any measurement assay knows\n'), (result.status, result.err))
        hpctoolkit.write_4(self.path('runs/b'), hpctoolkit.small())
        result = run('tree', self.path('runs'))
        self.assertEqual((3, f'assay: {self.path("runs")}: is no measurement itself, but holds one: name {self.path("runs")}/b\n'), (result.status, result.err))
        hpctoolkit.write_2021(self.path('runs/a'), hpctoolkit.small())
        result = run('tree', self.path('runs') + '/')
        self.assertEqual((3, f'assay: {self.path("runs")}/: is no measurement itself, but holds several: name one, such as {self.path("runs")}/a\n'), (result.status, result.err))

    def test_card_says_whose_version_it_is(self):
        hpctoolkit.write_2021(self.path('old'), hpctoolkit.small())
        hpctoolkit.write_xml(self.path('older'), hpctoolkit.small(), '2.1')
        self.assertIn('  HPCToolkit database of 2021, experiment.xml 4.0 ', run('info', self.path('old')).out.splitlines()[0])
        self.assertIn('  HPCToolkit database in XML, experiment.xml 2.1 ', run('info', self.path('older')).out.splitlines()[0])

    def test_card_names_a_metric_once(self):
        hpctoolkit.write_4(self.path('db'), hpctoolkit.small())
        lines = run('info', self.path('db')).out.splitlines()
        self.assertIn('  HPCToolkit database 4.0 ', lines[0])
        kinds = [line for line in lines if 'CPUTIME' in line]
        self.assertEqual(1, len(kinds), lines)
        self.assertRegex(kinds[0], r'inclusive, exclusive(, point)?(, lexical)?: CPUTIME \(sec\), cycles$')


if __name__ == '__main__':
    unittest.main()
