"""diff, merge, mean and cut as their users see them. Arithmetic is by hand, or done here on what `assay sql` says about the inputs."""
import os
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, environment, main, run, run_on_terminal
from cubex import anchor, index, metric, rows, system, tar, tree

EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')
OLD, NEW = (os.path.abspath(os.path.join(EXAMPLES, name)) for name in ('heat.cubex', 'heat-2.cubex'))

BEFORE = '''PARAMETER p
POINTS 2 4 8
METRIC time
REGION main->sort
DATA 1 3
DATA 2 4
DATA 3 5
REGION main->join
DATA 10 12
DATA 20 22
DATA 30 32
'''
# One point more and one less, another call path, and three repetitions instead of two at p=4.
AFTER = '''PARAMETER p
POINTS 2 4 16
METRIC time
REGION main->sort
DATA 2 4
DATA 2 4 6
DATA 3 5
REGION main->merge
DATA 1 2
DATA 1 2 3
DATA 1 2
'''
VALUES = '''select m.name metric, c.path path, p.rank rank, v.value value from value v join metric m on m.id = v.metric join context c on c.id = v.context
            join location l on l.id = v.location join location p on p.id = l.parent'''
NODES = 'select m.name metric, c.path path, n.inclusive inclusive, n.exclusive exclusive from node n join metric m on m.id = n.metric join context c on c.id = n.context'


def ask(path, statement):
    return run('sql', '--json', path, statement).json


def values(path):
    return {(r['metric'], r['path'], r['rank']): r['value'] for r in ask(path, VALUES)}


def nodes(path):
    return {(r['metric'], r['path']): (r['inclusive'], r['exclusive']) for r in ask(path, NODES)}


def walk(node):
    yield node
    for child in node['children']:
        yield from walk(child)


class Written(Case):
    def operate(self, *args, name='out.cubex', notes=''):
        result = run(*args, '-o', self.path(name))
        self.assertEqual((0, '', notes), (result.status, result.out, result.err))
        return self.path(name)

    def test_difference_at_every_place(self):
        out = self.operate('diff', OLD, NEW, notes='assay: note: left out, as they are derived from others: time_per_visit\n')
        old, new, change = values(OLD), values(NEW), values(out)
        self.assertEqual([{'name': 'visits', 'dtype': 'INT64'}, {'name': 'time', 'dtype': 'DOUBLE'}, {'name': 'bytes_sent', 'dtype': 'INT64'},
                          {'name': 'bytes_received', 'dtype': 'INT64'}], ask(out, 'select name, dtype from metric'))
        for key in old.keys() | new.keys():
            self.assertAlmostEqual(new.get(key, 0) - old.get(key, 0), change.get(key, 0), 12, key)
        self.assertLessEqual(change.keys(), old.keys() | new.keys())
        self.assertEqual('diff heat.cubex heat-2.cubex', ask(out, "select value from attribute where key = 'assay operation'")[0]['value'])

    def test_quiet_has_no_notes(self):
        result = run('diff', '-q', OLD, NEW, '-o', self.path('out.cubex'))
        self.assertFine(result)

    def test_laws(self):
        note = 'assay: note: left out, as they are derived from others: time_per_visit\n'
        self.assertEqual({0}, set(v for pair in nodes(self.operate('diff', OLD, OLD, notes=note)).values() for v in pair) | {0})
        for operation in ('mean', 'merge'):
            out = self.operate(operation, OLD, OLD)
            for key, pair in nodes(OLD).items():
                for expected, got in zip(pair, nodes(out)[key]):
                    self.assertAlmostEqual(expected, got, 9, (operation, key))
        self.assertEqual(nodes(OLD), nodes(self.operate('cut', '--root', 'main', OLD)))

    def test_mean_of_two(self):
        out = self.operate('mean', OLD, NEW)
        old, new, mean = values(OLD), values(NEW), values(out)
        for key in old.keys() | new.keys():
            self.assertAlmostEqual((old.get(key, 0) + new.get(key, 0)) / 2, mean.get(key, 0), 9, key)
        self.assertEqual([{'kind': 'derived'}], ask(out, "select kind from metric where name = 'time_per_visit'"))

    def test_sums_beyond_64_bits_on_the_way_to_doubles(self):
        """One file has inclusive values, the other exclusive ones whose sum no 64-bit integer can hold; the result can."""
        big = 2 ** 64 - 2 ** 12
        for name, dtype, kind, row in (('a', 'DOUBLE', 'INCLUSIVE', [0.0]), ('b', 'UINT64', 'EXCLUSIVE', [big])):
            self.write(name + '.cubex', tar({'0.index': index([0, 1]), '0.data': rows(dtype, [row, row]),
                                             'anchor.xml': anchor(metric(0, 'n', dtype, kind), tree('main(sort)'), system(1))}))
        a, b = self.path('a.cubex'), self.path('b.cubex')
        self.assertEqual({('n', 'main'): (big, big / 2), ('n', 'main->sort'): (big / 2, big / 2)}, nodes(self.operate('mean', a, b)))
        self.assertEqual({('n', 'main'): (-2 * big, -big), ('n', 'main->sort'): (-big, -big)}, nodes(self.operate('diff', b, a)))

    def test_merge_takes_whole_columns_of_the_last(self):
        out = self.operate('merge', OLD, NEW)
        new, merged = values(NEW), values(out)
        for key, value in merged.items():
            self.assertEqual(new.get(key, 0), value, key)
        self.assertEqual(nodes(NEW)['time', 'main'], nodes(out)['time', 'main'])
        paths = {r['path'] for r in ask(out, 'select path from context')}
        self.assertLessEqual({'main->write_output->write_file', 'main->solve->checkpoint'}, paths)

    def test_pruned_values_go_to_the_caller(self):
        out = self.operate('cut', '--prune', 'exchange_halo', OLD)
        old, cut = nodes(OLD), nodes(out)
        halo = [path for metric, path in old if metric == 'visits' and 'exchange_halo' in path]
        self.assertEqual(5, len(halo))
        self.assertEqual(old['visits', 'main->solve'][0], cut['visits', 'main->solve'][0])
        self.assertEqual(old['visits', 'main->solve'][1] + sum(old['visits', p][1] for p in halo), cut['visits', 'main->solve'][1])
        self.assertEqual(old['time', 'main'], cut['time', 'main'])
        self.assertFalse([path for _, path in cut if 'exchange_halo' in path])

    def test_new_roots(self):
        out = self.operate('cut', '--root', 'solve', '--root', 'init', OLD)
        self.assertEqual({'init', 'solve'}, {r['path'] for r in ask(out, 'select path from context where parent is null')})
        self.assertEqual(nodes(OLD)['time', 'main->solve->stencil'], nodes(out)['time', 'solve->stencil'])

    def test_other_formats_and_losses(self):
        out = self.operate('mean', OLD, NEW, name='mean.sqlite')
        with sqlite3.connect(out) as db:
            self.assertEqual((2,), db.execute("select count(*) from metric where name in ('time', 'visits')").fetchone())
        self.write('a.txt', BEFORE)
        result = run('merge', '--strict', OLD, NEW, '-o', self.path('out.txt'))
        self.assertEqual(1, result.status, result)
        self.assertNotIn('out.txt', self.files())
        report = run('cut', '--root', 'solve', OLD, '--to', 'cube', '-o', self.path('any.name'), '--json')
        self.assertEqual({'inputs': [OLD], 'output': self.path('any.name'), 'format': 'cube', 'losses': []}, report.json)
        self.assertEqual('cube', run('info', '--json', self.path('any.name')).json['format'])


class Experiments(Case):
    def setUp(self):
        super().setUp()
        self.before, self.after = self.write('before.txt', BEFORE), self.write('after.txt', AFTER)

    def means(self, path):
        return {(r['path'], r['label']): (r['mean'], r['repetitions']) for r in
                ask(path, 'select c.path path, p.label label, m.mean mean, m.repetitions repetitions from measurement m join context c on c.id = m.context join point p on p.id = m.point')}

    def test_difference_of_means(self):
        result = run('diff', self.before, self.after, '-o', self.path('out.txt'))
        self.assertEqual((0, 'assay: note: 2 points left out, as not all were measured there\n'), (result.status, result.err))
        # sort: 3 - 2 and 4 - 3; join: 0 - 11 and 0 - 21; merge: 1.5 and 2
        self.assertEqual({('main->sort', '(2)'): (1, 1), ('main->sort', '(4)'): (1, 1), ('main->join', '(2)'): (-11, 1), ('main->join', '(4)'): (-21, 1),
                          ('main->merge', '(2)'): (1.5, 1), ('main->merge', '(4)'): (2, 1)}, self.means(self.path('out.txt')))

    def test_repetition_by_repetition_where_there_are_as_many(self):
        other = self.write('other.txt', BEFORE.replace('DATA 10 12', 'DATA 11 15'))
        run('diff', self.before, other, '-o', self.path('out.txt'))
        self.assertIn('DATA 1 3\n', self.read('out.txt').decode().split('REGION main->join\n')[1])

    def test_mean_of_repetitions(self):
        run('mean', self.before, '-o', self.path('out.txt'))
        self.assertEqual({('main->sort', '(2)'): (2, 1), ('main->sort', '(4)'): (3, 1), ('main->sort', '(8)'): (4, 1), ('main->join', '(2)'): (11, 1),
                          ('main->join', '(4)'): (21, 1), ('main->join', '(8)'): (31, 1)}, self.means(self.path('out.txt')))
        self.assertFails(run('mean', self.path('out.txt')), 2, 'no repetitions')

    def test_merge_takes_the_points_of_the_last(self):
        run('merge', self.before, self.after, '-o', self.path('out.extra-p'))
        means = self.means(self.path('out.extra-p'))
        self.assertEqual({'(2)': (3, 2), '(4)': (4, 3), '(8)': (4, 2), '(16)': (4, 2)}, {label: v for (path, label), v in means.items() if path == 'main->sort'})
        self.assertEqual({'(8)': (31, 2)}, {label: v for (path, label), v in means.items() if path == 'main->join'})

    def test_shown_at_the_largest_common_point(self):
        result = run('diff', self.before, self.after)
        self.assertFine(result)
        self.assertIn('p=4', result.out)
        self.assertIn('p=2', run('diff', self.before, self.after, '--run', 'p=2').out)

    def test_other_parameters(self):
        other = self.write('other.txt', BEFORE.replace('PARAMETER p', 'PARAMETER n'))
        self.assertFails(run('diff', self.before, other), 2, 'parameters')
        self.assertFails(run('mean', self.before, other, '-o', self.path('out.txt')), 2, 'parameters')
        self.assertFails(run('merge', OLD, self.before, '-o', self.path('out.cubex')), 2, 'parameters')


class Shown(Case):
    def test_changes(self):
        result = run('diff', OLD, NEW)
        self.assertFine(result)
        lines = result.out.splitlines()
        self.assertEqual('heat.cubex → heat-2.cubex  time 13.49 s → 15.66 s, +2.17 s (+16.1 %)', lines[0])
        self.assertEqual(['base', 's', 'target', 's', 'change', 's', '%', 'self', 's', 'call', 'tree'], lines[1].split())
        self.assertIn('checkpoint (new)', result.out)
        self.assertIn('only in heat.cubex: MPI_Gather, write_file\n', result.out)
        self.assertIn('only in heat-2.cubex: checkpoint, MPI_File_write_all\n', result.out)

    def test_threshold_and_limit(self):
        def names(*options):
            return [line.split('  ')[-2].strip('│├└─ ') for line in run('diff', OLD, NEW, *options).out.splitlines()[2:] if not line.startswith(('…', 'only'))]
        self.assertEqual(19 + 3, len(names('--all')))
        self.assertEqual(['main', 'solve', 'checkpoint (new)', 'MPI_File_write_all (new)'], names('--min-change', '20'))
        self.assertEqual(['MPI_File_write_all (new)', 'MPI_Finalize'], names('--flat', '-n', '2'))
        relative = names('--flat', '--relative', '-n', '4')  # from nothing to something, then from something to nothing: -100 %
        self.assertEqual([{'checkpoint (new)', 'MPI_File_write_all (new)'}, {'MPI_Gather (gone)', 'write_file (gone)'}], [set(relative[:2]), set(relative[2:])])
        self.assertEqual(sorted(names('--flat', '--all')), names('--flat', '--all', '--sort', 'name'))

    def test_json(self):
        answer = run('diff', OLD, NEW, '--json').json
        self.assertEqual([OLD, NEW, 'top-down'], [answer[k] for k in ('base', 'target', 'view')])
        self.assertEqual(['MPI_Gather', 'write_file'], answer['only_in_base'])
        old, new = nodes(OLD), nodes(NEW)
        seen = set()
        for node in walk(answer['root']):
            self.assertNotIn(node['path'], seen)
            seen.add(node['path'])
            self.assertEqual([node['in_base'], node['in_target']], [('time', node['path']) in old, ('time', node['path']) in new])
            for metric in ('time', 'visits'):
                for i, word in enumerate(('inclusive', 'exclusive')):
                    base, target = (side.get((metric, node['path']), (0, 0))[i] for side in (old, new))
                    value = node['values'][metric]
                    self.assertAlmostEqual(base, value['base'][word], 9)
                    self.assertAlmostEqual(target, value['target'][word], 9)
                    self.assertAlmostEqual(target - base, value['change'][word], 9)
                    if base:
                        self.assertAlmostEqual((target - base) / base, value['relative'][word], 6)
        self.assertEqual({path for _, path in old} | {path for _, path in new}, seen)

    def test_derived_metrics_are_compared_by_their_values(self):
        answer = run('diff', OLD, NEW, '--json', '--metric', 'time_per_visit').json
        old, new = nodes(OLD), nodes(NEW)
        self.assertAlmostEqual(new['time_per_visit', 'main'][0] - old['time_per_visit', 'main'][0], answer['root']['values']['time_per_visit']['change']['inclusive'], 12)

    def test_several_metrics_are_shown_one_after_the_other(self):
        for options in ((), ('--flat',), ('--all', '--sort', 'relative')):
            time, visits, both = (run('diff', OLD, NEW, *options, *(word for name in names for word in ('--metric', name))).out
                                  for names in (('time',), ('visits',), ('time', 'visits')))
            self.assertIn('visits 15,281', visits)
            tables = ''.join(line for line in time.splitlines(True) if not line.startswith('only in '))
            self.assertEqual(tables + '\n' + visits, both, options)

    def test_tables(self):
        rows = run('diff', OLD, NEW, '--csv', '--metric', 'visits').out.splitlines()
        self.assertEqual('path,depth,name,file,line,metric,base,target,change,relative,in_base,in_target,base_exclusive,target_exclusive,exclusive_change', rows[0])
        self.assertEqual('main->write_output->write_file,2,write_file,output.c,93,visits,1,0,-1,-1,1,0,1,0,-1', next(r for r in rows if 'write_file' in r))
        self.assertTrue(run('diff', OLD, NEW, '--md').out.startswith('| path'))
        self.assertIn('"change":', run('diff', OLD, NEW, '--jsonl').out.splitlines()[0])

    def test_metrics_of_one_side(self):
        one = 'PARAMETER p\nPOINTS 1\nMETRIC time\nREGION main\nDATA 1\n'
        self.write('time.txt', one)
        self.write('both.txt', one + 'METRIC flops\nREGION main\nDATA 5\n')
        result = run('diff', self.path('time.txt'), self.path('both.txt'), '-o', self.path('out.txt'))
        self.assertEqual((0, 'assay: note: left out, as only the target has them (--all-metrics takes them as 0 in the base): flops\n'), (result.status, result.err))
        self.assertNotIn('flops', self.read('out.txt').decode())
        result = run('diff', '--all-metrics', self.path('time.txt'), self.path('both.txt'), '-o', self.path('out.txt'))
        self.assertFine(result)
        self.assertIn('METRIC flops\nDATA 5\n', self.read('out.txt').decode())
        result = run('diff', self.path('time.txt'), self.path('both.txt'))
        self.assertEqual((0, f'assay: note: metrics only in {self.path("both.txt")} are left out (--all-metrics shows them): flops\n'), (result.status, result.err))

    def test_no_metric_in_common(self):
        for name in ('time', 'flops'):
            text = self.write(name + '.txt', f'PARAMETER p\nPOINTS 1\nMETRIC {name}\nREGION main\nDATA 1\n')
            self.assertEqual(0, run('convert', '-q', text, self.path(name + '.cubex')).status)
        result = run('diff', self.path('time.cubex'), self.path('flops.cubex'), '-o', self.path('out.cubex'))
        self.assertEqual(0, result.status)
        self.assertIn('the two have no metric in common, so the result has none', result.err)

    def test_colour_only_beside_a_sign(self):
        shown = run_on_terminal('diff', OLD, NEW, columns=100).out
        self.assertIn('\033[31m+2.17\033[0m', shown)
        self.assertIn('\033[32m-0.49\033[0m', shown)
        self.assertNotIn('\033', run('diff', OLD, NEW).out)
        for columns in (60, 80, 100):
            for line in run_on_terminal('diff', OLD, NEW, '--color', 'never', columns=columns).out.splitlines():
                if not line.startswith(('…', '...')):
                    self.assertLessEqual(len(line), columns)

    def test_long_names_of_files(self):
        """The names have a line of their own where all is too wide, and stay two names."""
        names = [f'{word}_version_of_the_program_with_many_words/profile.cubex' for word in ('first', 'second')]
        for name, source in zip(names, (OLD, NEW)):
            os.mkdir(self.path(os.path.dirname(name)))
            shutil.copy(source, self.path(name))
        for env in (environment(TERM='dumb', LC_ALL='C.UTF-8'), environment(TERM='dumb', LC_ALL='C')):
            lines = run_on_terminal('diff', *names, cwd=self.folder, env=env, columns=80).out.replace('\r', '').splitlines()
            self.assertLessEqual(max(map(len, lines)), 80)
            self.assertTrue(lines[1].startswith('time 13.49 s '), lines)
            self.assertEqual(2, lines[0].count('of_the_program_with_many_words/profile.cubex'[-30:]), lines)
        wide = run_on_terminal('diff', *names, cwd=self.folder, env=env, columns=200).out.replace('\r', '').splitlines()
        self.assertTrue(wide[0].startswith(f'{names[0]} -> {names[1]}  time 13.49 s -> 15.66 s, +2.17 s (+16.1 %)'), wide)

    def test_small_changes_have_a_sign(self):
        a, b = (self.write(f'{v[0]}.txt', f'PARAMETER p\nPOINTS 1\nMETRIC time\nREGION main->up\nDATA 100\nREGION main->down\nDATA 100\nREGION main->same\nDATA {v[1]}\n')
                for v in (('a', 100), ('b', 101)))
        text = self.read('b.txt').decode().replace('up\nDATA 100', 'up\nDATA 100.01').replace('down\nDATA 100', 'down\nDATA 99.99')
        self.write('b.txt', text)
        shown = run('diff', a, b, '--all').out.splitlines()
        row = {name: next(line.split() for line in shown if line.endswith(name)) for name in ('up', 'down', 'same')}
        self.assertEqual(['<+0.1', '>-0.1', '+1.0'], [row[name][3] for name in ('up', 'down', 'same')])

    def test_ascii(self):
        run('diff', OLD, NEW, '--ascii').out.encode('ascii')
        run('diff', OLD, NEW, env=environment(LC_ALL='C')).out.encode('ascii')

    def test_results_are_shown_as_trees(self):
        self.assertEqual('mean heat.cubex heat-2.cubex', run('mean', OLD, NEW, '--json').json['input'])
        for folder in ('a', 'b', 'b/c'):
            os.mkdir(self.path(folder))
            shutil.copy(OLD, self.path(folder + '/profile.cubex'))
        name = lambda *paths: run('mean', *map(self.path, paths), '--json').json['input']
        self.assertEqual('mean a/profile.cubex b/profile.cubex', name('a/profile.cubex', 'b/profile.cubex'))
        self.assertEqual('mean profile.cubex c/profile.cubex', name('b/profile.cubex', 'b/c/profile.cubex'))
        shutil.copy(OLD, self.path('a/other.cubex'))
        self.assertEqual('mean a/other.cubex a/profile.cubex b/profile.cubex', name('a/other.cubex', 'a/profile.cubex', 'b/profile.cubex'))
        self.assertEqual('mean profile.cubex profile.cubex', name('a/profile.cubex', 'a/profile.cubex'))
        self.assertTrue(run('cut', '--root', 'solve', OLD).out.startswith('cut --root solve heat.cubex  time 11.85 s, 8 locations\n'))
        answer = run('merge', OLD, NEW, '--json', '--metric', 'visits').json
        self.assertEqual((['visits'], 15600), (answer['metrics'], answer['root']['values']['visits']['inclusive']))


class WrongUse(Case):
    def test_numbers_of_files(self):
        self.assertFails(run('diff', OLD), 2, 'BASE and TARGET')
        self.assertFails(run('diff', OLD, OLD, OLD), 2, 'BASE and TARGET')
        self.assertFails(run('merge', OLD), 2, 'two files or more')
        self.assertFails(run('mean'), 2, 'two files or more')
        self.assertFails(run('mean', OLD), 2, 'no repetitions')
        self.assertFails(run('cut', '--root', 'main', OLD, OLD), 2, 'one file')

    def test_names(self):
        self.assertFails(run('cut', OLD), 2, '--root or --prune')
        self.assertFails(run('cut', '--root', 'slove', OLD), 2, "'slove'", "did you mean 'solve'?")
        self.assertFails(run('cut', '--root', 'solve', '--prune', 'solve', OLD), 2, 'both')
        self.assertFails(run('diff', '--match', 'sideways', OLD, NEW), 2, 'name|exact')
        self.assertFails(run('diff', '--metric', 'tiem', OLD, NEW), 2, "'tiem'")
        self.assertFails(run('diff', '--min-change', 'much', OLD, NEW), 2, "'much'")
        self.assertFails(run('diff', '--all', '--min-change', '1', OLD, NEW), 2, 'exclude')

    def test_an_old_output_stays(self):
        broken = self.write('broken.cubex', 'no archive at all')
        with open(OLD, 'rb') as f:
            short = self.write('short.cubex', f.read()[:3000])
        for status, args in ((3, ['diff', OLD, broken]), (3, ['mean', OLD, self.path('absent.cubex')]), (3, ['merge', short, OLD]),
                             (2, ['cut', '--prune', 'nothing', OLD]), (2, ['mean', OLD])):
            out = self.write('kept.cubex', 'as it was')
            result = run(*args, '-o', out)
            self.assertFails(result, status)
            self.assertEqual(b'as it was', self.read('kept.cubex'))
        self.assertEqual(['broken.cubex', 'kept.cubex', 'short.cubex'], self.files())

    def test_an_input_is_never_written_over(self):
        with open(OLD, 'rb') as f:
            data = f.read()
        path = self.write('in.cubex', data)
        self.assertFails(run('mean', path, OLD, '-o', path), 3, 'is an input, too')
        self.assertEqual(data, self.read('in.cubex'))

    def test_what_is_about_the_screen(self):
        self.assertFails(run('diff', '--flat', OLD, NEW, '-o', self.path('out.cubex')), 2, '--flat')
        self.assertFails(run('mean', '--metric', 'time', OLD, NEW, '-o', self.path('out.cubex')), 2, '--metric')
        self.assertEqual([], self.files())

    def test_outputs_that_name_no_format(self):
        self.assertFails(run('diff', OLD, NEW, '-o', self.path('out.xyz')), 2, '--to')
        self.assertFails(run('diff', OLD, NEW, '--to', 'cube'), 2, '-o FILE')


if __name__ == '__main__':
    main()
