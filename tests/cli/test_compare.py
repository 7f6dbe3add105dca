"""assay compare BASE TARGET: did it get worse? Verdicts, exit status, and every kind of output."""
import csv
import io
import itertools
import json
import os
import random
import time
import xml.etree.ElementTree as xml

import common
import cubex
from common import run, run_on_terminal

UTF8 = common.environment(LC_ALL='C.UTF-8')


def text(**paths):
    """One point, one metric: the values of each call path are its repetitions."""
    return 'PARAMETER p\nPOINTS 1\nMETRIC time\n' + ''.join(
        f'REGION {path.replace("__", "->")}\nDATA {" ".join(map(str, values))}\n' for path, values in paths.items())


LOW, HIGH = [10, 11, 12, 13, 14, 15], [20, 21, 22, 23, 24, 25]
FLAT = [100, 101, 102, 103, 104, 105]


class TestVerdicts(common.Case):
    def sides(self, base, target):
        return self.write('base.txt', text(**base)), self.write('target.txt', text(**target))

    def entry(self, answer, path):
        found = [e for e in answer['entries'] if e['path'] == path]
        self.assertEqual(1, len(found), path)
        return found[0]

    def test_threshold_only(self):
        base, target = self.sides({'main__f': [100], 'main__g': [100]}, {'main__f': [106], 'main__g': [104]})
        r = run('compare', base, target, '--json')
        self.assertEqual((1, ''), (r.status, r.err))
        self.assertEqual(('worse', 'threshold only', False), (r.json['verdict'], r.json['method']['name'], r.json['method']['has_repetitions']))
        self.assertEqual('degradation', self.entry(r.json, 'main->f')['finding'])
        self.assertEqual('no change', self.entry(r.json, 'main->g')['finding'])
        self.assertAlmostEqual(0.06, self.entry(r.json, 'main->f')['relative'])
        total = r.json['totals'][0]
        self.assertEqual((200, 210, 'time'), (total['base'], total['target'], total['metric']))
        self.assertAlmostEqual((1.06 * 1.04) ** 0.5, total['geometric_mean'])
        for mode in ((), ('--md',)):
            self.assertIn('no repetitions: threshold only, 5 %', run('compare', base, target, *mode).out)
        self.assertEqual(0, run('compare', base, target, '--threshold', '10%').status)
        self.assertEqual(0, run('compare', base, target, '--threshold', '0.1').status)
        self.assertEqual(0, run('compare', base, target, '--fail-on', 'never').status)
        self.assertEqual(0, run('compare', target, base).status)  # better

    def test_inclusive_values_add_up_once(self):
        base, target = self.sides({'main': [100], 'main__f': [60], 'main__f__g': [50], 'main__h': [30]},
                                  {'main': [120], 'main__f': [80], 'main__f__g': [70], 'main__h': [30]})
        r = run('compare', base, target, '--json')
        total = r.json['totals'][0]
        self.assertEqual((100, 120, 1.2, True, 4), tuple(total[k] for k in ('base', 'target', 'geometric_mean', 'looks_inclusive', 'matched')))
        self.assertEqual((100, 120), (total['whole']['base'], total['whole']['target']))
        self.assertAlmostEqual(0.2, self.entry(r.json, 'main->f')['share'])
        self.assertIn('values of time look inclusive: totals are sums of the topmost call paths', run('compare', base, target).out)
        part = run('compare', base, target, '--json', '--match', 'f|h').json['totals'][0]
        self.assertEqual((90, 110), (part['base'], part['target']))  # main->f and main->h
        self.assertAlmostEqual((80 / 60) ** 0.5, part['geometric_mean'])
        own = run('compare', *self.sides({'main': [1], 'main__f': [60], 'main__f__g': [50]}, {'main': [1], 'main__f': [60], 'main__f__g': [55]}), '--json')
        total = own.json['totals'][0]
        self.assertEqual((111, 116, False), (total['base'], total['target'], total['looks_inclusive']))  # less than what lies below: exclusive
        noisy = self.write('noisy.txt', text(main=LOW, main__f=[v - 2 for v in LOW]))
        noise = {n['callpath']: n['median'] for n in run('compare', '--noise', noisy, '--json').json['noise']}
        self.assertEqual({None: 12.5, 'main': 12.5, 'main->f': 10.5}, noise)
        self.assertIn('look inclusive', run('compare', '--noise', noisy).out)

    def test_a_changed_root_does_not_change_what_its_values_are(self):
        base, target = self.sides({'main': [100], 'main__f': [90]}, {'main': [300], 'main__f': [90]})
        total = run('compare', base, target, '--json').json['totals'][0]
        self.assertEqual((100, 300), (total['base'], total['target']))

    def test_statistics(self):
        base, target = self.sides({'f': LOW, 'g': FLAT}, {'f': HIGH, 'g': FLAT})
        r = run('compare', base, target, '--json')
        self.assertEqual(1, r.status)
        f = self.entry(r.json, 'f')
        self.assertEqual(('degradation', 'statistics', 6, 6), (f['finding'], f['method'], f['n_base'], f['n_target']))
        self.assertAlmostEqual(2 / 924, f['p'])
        self.assertAlmostEqual(3 * 2 / 924, f['adjusted_p'])  # f, g and the total
        self.assertAlmostEqual(22.5 / 12.5, f['ratio'])
        self.assertTrue(20 / 15 <= f['ratio_low'] < 1.8 < f['ratio_high'] <= 2.5)
        self.assertEqual(r.out, run('compare', base, target, '--json').out)
        other = self.entry(run('compare', base, target, '--json', '--seed', '9', '--resamples', '100').json, 'f')
        self.assertNotEqual((f['ratio_low'], f['ratio_high']), (other['ratio_low'], other['ratio_high']))

    def test_too_few(self):
        base, target = self.sides({'f': [10, 11, 12]}, {'f': [20, 21, 22]})
        r = run('compare', base, target, '--json')
        self.assertEqual((0, 'maybe worse'), (r.status, r.json['verdict']))
        self.assertEqual('maybe degradation', self.entry(r.json, 'f')['finding'])
        self.assertEqual(4, r.json['method']['repetitions_needed'])  # 2/20 is not below 0.05, 2/70 is
        self.assertEqual(1, run('compare', base, target, '--fail-on', 'maybe').status)
        self.assertIn('it takes 4 on both sides', run('compare', base, target).out)

    def test_few_repetitions_are_enough_for_many_call_paths(self):
        rng = random.Random(3)
        side = lambda factor: {f'f{i}': [(1 + i % 7) * rng.uniform(0.97, 1.03) * (factor if i == 4 else 1) for _ in range(5)] for i in range(40)}
        base, target = self.sides(side(1), side(1.5))
        r = run('compare', base, target, '--json')
        self.assertEqual((1, 'shuffled runs and bootstrap', None), (r.status, r.json['method']['name'], r.json['method']['repetitions_needed']))
        f = self.entry(r.json, 'f4')
        self.assertEqual('degradation', f['finding'])
        self.assertAlmostEqual(2 / 252, f['adjusted_p'])  # of all divisions of ten runs only this one and its mirror image
        self.assertEqual({'f4'}, {e['path'] for e in r.json['entries'] if e['finding'] != 'no change'})
        self.assertIn('shuffled runs and bootstrap intervals of the ratio of medians, 41 tests at 5 % together,', run('compare', base, target).out)
        self.assertEqual(r.out, run('compare', base, target, '--json').out)
        back = self.entry(run('compare', target, base, '--json').json, 'f4')
        self.assertEqual(('optimization', f['adjusted_p']), (back['finding'], back['adjusted_p']))

    def test_runs_are_shuffled_as_a_whole(self):
        """Call paths that were slow in the same runs are one piece of evidence, not forty: p of each is that of one test alone."""
        slow = [1.0, 1.3, 1.1, 1.2, 1.05]
        base, target = self.sides({f'f{i}': [x * (1 + i % 7) for x in slow] for i in range(40)}, {f'f{i}': [1.12 * x * (1 + i % 7) for x in reversed(slow)] for i in range(40)})
        r = run('compare', base, target, '--json')
        values = [*slow, *(1.12 * x for x in slow)]
        def distance(chosen):
            t, b = [values[i] for i in chosen], [values[i] for i in range(10) if i not in chosen]
            means = sum(t) / 5, sum(b) / 5
            error = ((sum((x - means[0]) ** 2 for x in t) + sum((x - means[1]) ** 2 for x in b)) / 8 * 0.4) ** 0.5
            return abs(means[0] - means[1]) / (error + 0.01 * sum(values) / 10)
        measured = distance((5, 6, 7, 8, 9))
        part = sum(distance(c) >= measured - 1e-9 for c in itertools.combinations(range(10), 5)) / 252
        self.assertEqual({round(part, 9)}, {round(e['adjusted_p'], 9) for e in r.json['entries']})
        self.assertEqual(0, r.status)

    def test_new_and_gone(self):
        base, target = self.sides({'f': [10], 'old': [5]}, {'f': [10], 'fresh': [7]})
        r = run('compare', base, target, '--json')
        self.assertEqual(([('fresh', 7)], [('old', 5)]), ([(e['path'], e['value']) for e in r.json['new']], [(e['path'], e['value']) for e in r.json['gone']]))
        total = r.json['totals'][0]
        self.assertEqual((10, 10, 15, 17), (total['base'], total['target'], total['whole']['base'], total['whole']['target']))
        self.assertEqual((1, 'worse'), (r.status, r.json['verdict']))  # 13 % more in all
        self.assertIn('new and gone call paths made it slower', run('compare', base, target).out)

    def test_zero_base_and_floor(self):
        base, target = self.sides({'f': [1000], 'none': [0], 'tiny': [0.01]}, {'f': [1000], 'none': [3], 'tiny': [0.5]})
        r = run('compare', base, target, '--json')
        none, tiny = self.entry(r.json, 'none'), self.entry(r.json, 'tiny')
        self.assertEqual(('degradation', 'inf', 'inf'), (none['finding'], none['ratio'], none['relative']))
        self.assertEqual(('no change', True), (tiny['finding'], tiny['small']))
        tiny = self.entry(run('compare', base, target, '--json', '--floor', '0').json, 'tiny')
        self.assertEqual('degradation', tiny['finding'])

    def test_points(self):
        two = 'PARAMETER p\nPOINTS {}\nMETRIC time\nREGION f\n{}'
        base = self.write('base.txt', two.format('1 2 4', 'DATA 1 2 3\nDATA 10 20 30\nDATA 5 5 5\n'))
        target = self.write('target.txt', two.format('1 2 8', 'DATA 1 2 3\nDATA 10 20 30\nDATA 9 9 9\n'))
        r = run('compare', base, target, '--json')
        self.assertEqual((1, 1), (r.json['method']['unmatched_points_base'], r.json['method']['unmatched_points_target']))
        f = self.entry(r.json, 'f')
        self.assertEqual((22, 22, 6), (f['base'], f['target'], f['n_base']))  # medians 2 and 20
        other = self.write('other.txt', two.format('1 2 4', 'DATA 1\nDATA 2\nDATA 3\n').replace('PARAMETER p', 'PARAMETER n'))
        self.assertFails(run('compare', base, other), 2, 'different parameters')

    def test_no_point_in_common(self):
        def at(*points):
            return f'PARAMETER p\nPOINTS {" ".join(map(str, points))}\nMETRIC time\nREGION main\n' + ''.join(f'DATA {10 * p}\n' for p in points)
        base, target = self.write('b.txt', at(1, 2, 3, 4, 5)), self.write('t.txt', at(10, 20, 30, 40, 50))
        common.Case.assertFails(self, run('compare', base, target), 2, 'no point of p is of both sides', '--at')
        r = run('compare', base, target, '--at', 'p=100', '--json')
        self.assertEqual((0, 'no change', [1000, 1000]), (r.status, r.json['verdict'], [round(r.json['growth'][0][side]['value']) for side in ('base', 'target')]))
        self.assertEqual(0, run('compare', base, self.write('some.txt', at(5, 6, 7))).status)

    def test_named_points(self):
        """Of one file against itself: the medians of f are 20 at 2 and 40 at 4, those of g 5."""
        path = self.write('runs.txt', 'PARAMETER p\nPOINTS 1 2 4\nMETRIC time\nREGION f\nDATA 1 1 1\nDATA 10 20 30\nDATA 39 40 41\nREGION g\nDATA 1 1 1\nDATA 5 5 5\nDATA 5 5 5\n')
        r = run('compare', path, path, '--run-a', 'p=2', '--run-b', 'p=4', '--json', '--all', '--fail-on', 'never')
        f, g = self.entry(r.json, 'f'), self.entry(r.json, 'g')
        self.assertEqual((20, 40, 3, 3), (f['base'], f['target'], f['n_base'], f['n_target']))
        self.assertEqual((5, 5, 'no change'), (g['base'], g['target'], g['finding']))
        self.assertTrue(r.json['method']['has_repetitions'])
        self.assertEqual([], r.json.get('growth', []))
        self.assertIn('runs.txt (p=2, 3 runs) → ', run('compare', path, path, '--run-a', 'p=2', '--run-b', 'p=4', env=UTF8).out)
        # single runs: the second of p=2 against the last
        one = run('compare', path, path, '--run-a', '4', '--run-b', '8', '--json', '--all', '--fail-on', 'never').json
        self.assertEqual((20, 41, False), (self.entry(one, 'f')['base'], self.entry(one, 'f')['target'], one['method']['has_repetitions']))
        self.assertFails(run('compare', path, path, '--run-a', 'p=3'), 2, 'nothing was measured at p=3')
        self.assertFails(run('compare', path, path, '--run-a', 'p=2', '--at', 'p=9'), 2, '--at')
        self.assertFails(run('compare', path, 'vs', path, path, '--run-a', 'p=2'), 2, 'one file')
        self.assertFails(run('compare', '--noise', path, '--run-a', 'p=2'), 2, '--run-a')

    def test_what_is_inside_of_matched_call_paths_is_said_once(self):
        base, target = self.sides({'main': [100], 'main__f': [90]}, {'main': [120], 'main__f': [90], 'main__g': [20]})
        self.assertNotIn('without new and gone', run('compare', base, target).out)
        self.assertNotIn('matched', run('compare', base, target).out)

    def test_config(self):
        base, target = self.sides({'main__f': [100], 'main__g': [100], 'rate': [100]}, {'main__f': [106], 'main__g': [130], 'rate': [80]})
        config = self.write('c.yaml', '''threshold: 10%
fail_on: degradation
rules:
  - path: g$
    threshold: 50%
  - {path: ^rate$, higher_is_better: true, threshold: 5%}
''')
        answer = run('compare', base, target, '--json', '--config', config).json
        self.assertEqual(['no change', 'no change', 'degradation'], [self.entry(answer, p)['finding'] for p in ('main->f', 'main->g', 'rate')])
        answer = run('compare', base, target, '--json', '--config', config, '--threshold', '1%').json  # the command line wins
        self.assertEqual('degradation', self.entry(answer, 'main->f')['finding'])
        ignoring = self.write('i.yaml', 'rules: [{path: "g|rate", ignore: yes}]')
        answer = run('compare', base, target, '--json', '--config', ignoring).json
        self.assertEqual((['main->f'], 100, 106), ([e['path'] for e in answer['entries']], answer['totals'][0]['base'], answer['totals'][0]['target']))
        for wrong, words in (('thresold: 5%', ('c.yaml:1:1', "no key 'thresold'")), ('threshold: fast', ('1:12',)), ('rules: [{paths: x}]', ('1:10', 'higher_is_better')),
                             ('rules: 5', ('no list',)), ('- 1', ('no mapping',)), ('rules: [{path: "a(b", ignore: no}]', ('1:16', 'a(b', 'no pattern')), ('level: 2', ('level',))):
            self.assertFails(run('compare', base, target, '--config', self.write('c.yaml', wrong)), 2, *words)
        self.assertFails(run('compare', base, target, '--config', self.path('none.yaml')), 3, 'none.yaml')
        self.assertFails(run('compare', base, target, '--config', self.write('c.yaml', '{')), 3, 'c.yaml:2:1')

    def test_match_and_metric(self):
        base, target = self.sides({'main__f': [100], 'main__g': [100]}, {'main__f': [150], 'main__g': [100]})
        self.assertEqual(0, run('compare', base, target, '--match', 'g$').status)
        self.assertFails(run('compare', base, target, '--match', 'a('), 2, 'no regular expression')
        self.assertFails(run('compare', base, target, '--metric', 'visits'), 2, "no metric 'visits'")
        self.assertEqual(1, run('compare', base, target, '--metric', 'time').status)


class TestInputs(common.Case):
    def repetitions(self, folder, values):
        os.makedirs(self.path(folder), exist_ok=True)
        return [self.write(f'{folder}/r{i}.txt', text(f=[value, value + 50])) for i, value in enumerate(values)]

    def test_lists(self):
        """Each file gives one number, its median."""
        base, target = self.repetitions('base', LOW), self.repetitions('target', HIGH)
        r = run('compare', *base, 'vs', *target, '--json')
        self.assertEqual((1, 6, 6), (r.status, len(r.json['base']), r.json['entries'][0]['n_base']))
        self.assertEqual(12.5 + 25, r.json['entries'][0]['base'])
        by_folder = run('compare', self.path('base'), self.path('target'), '--json')
        self.assertEqual((1, r.json['entries']), (by_folder.status, by_folder.json['entries']))
        self.write('base/README', 'what these are')
        noted = run('compare', self.path('base'), self.path('target'), '--json')
        self.assertEqual(r.json['entries'], noted.json['entries'])
        self.assertOneLine(noted, 'README', 'left out')
        self.assertIn('base (6 repetitions) → target (6 repetitions)', run('compare', self.path('base'), self.path('target'), env=UTF8).out)

    def test_mixed_formats_of_one_side(self):
        self.repetitions('base', LOW)
        self.write('base/z.cubex', cubex.small())
        self.assertFails(run('compare', self.path('base'), self.path('base')), 3, 'z.cubex', 'one format')

    def test_grammar(self):
        one = self.write('a.txt', text(f=[1]))
        for words in ((), (one,), (one, one, one), ('vs', one, one), (one, one, 'vs'), (one, 'vs', one, 'vs', one)):
            self.assertEqual(2, run('compare', *words).status, words)
        self.assertEqual(0, run('compare', one, one).status)
        self.assertEqual(0, run('compare', one, 'vs', one).status)
        self.assertFails(run('compare', one, self.path('none.txt')), 3, 'none.txt')
        os.mkdir(self.path('empty'))
        self.assertFails(run('compare', one, self.path('empty')), 3, 'empty')
        for option, value in (('threshold', 'x'), ('threshold', '-1'), ('level', '1'), ('level', '0'), ('seed', '-3'), ('resamples', '5'), ('fail-on', 'often')):
            self.assertEqual(2, run('compare', one, one, f'--{option}={value}').status, (option, value))

    def test_empty(self):
        empty = self.write('e.perf', '{"header": {"type": "mixed", "units": {}}, "global": {"resources": []}}')
        for mode in ((), ('--json',), ('--md',), ('--csv',)):
            self.assertFine(run('compare', empty, empty, *mode))
        self.assertIn('there is no call path to compare', run('compare', empty, empty).out)
        self.assertFails(run('compare', empty, self.write('a.cubex', cubex.small())), 2, 'no metric in common')

    def test_formats(self):
        """A profile against an experiment: matched by the names of call paths, sums over places."""
        profile = self.write('p.cubex', cubex.small(kind='INCLUSIVE'))
        exclusive = self.write('e.cubex', cubex.small())
        r = run('compare', profile, profile, '--json', '--inclusive')
        self.assertEqual((0, 'no change', 'inclusive'), (r.status, r.json['verdict'], r.json['method']['values']))
        paths = {e['path']: e['base'] for e in run('compare', exclusive, exclusive, '--json').json['entries']}
        self.assertEqual({'main': 3, 'main->sort': 30, 'main->sort->swap': 300, 'main->join': 3000}, paths)
        r = run('compare', exclusive, exclusive, '--json', '--inclusive').json
        self.assertEqual(3333, r['totals'][0]['base'])  # the root alone
        self.assertEqual(330, [e['base'] for e in r['entries'] if e['path'] == 'main->sort'][0])

    def test_many_different_sizes(self):
        n = 300000
        path = self.write('many.perf', json.dumps({
            'header': {'type': 'mixed', 'units': {'mixed(time delta)': 'us'}, 'cmd': 'x', 'workload': 'w'},
            'resources': {'f#0': {'amount': [100 + i % 7 for i in range(n)], 'structure-unit-size': list(range(n))}},
            'resource_type_map': {'f#0': {'type': 'mixed', 'subtype': 'time delta', 'uid': 'f'}}}))
        start = time.monotonic()
        answer = run('compare', '--json', path, path)
        self.assertLess(time.monotonic() - start, 30)  # each size against all others would take minutes
        self.assertEqual(0, answer.status)
        self.assertEqual([('f', 'no change')], [(e['path'], e['finding']) for e in answer.json['entries']])


class TestOutputs(common.Case):
    def setUp(self):
        super().setUp()
        self.base = self.write('base.txt', text(**{'main__slow<int>': LOW, 'main__fast|"&': HIGH, 'main__same': FLAT, 'old': [3] * 6}))
        self.target = self.write('target.txt', text(**{'main__slow<int>': HIGH, 'main__fast|"&': LOW, 'main__same': FLAT, 'fresh': [2] * 6}))

    def test_text(self):
        out = run('compare', self.base, self.target, env=UTF8).out
        self.assertRegex(out, r'\Aworse: 1 of 3 call paths got slower; total ')
        self.assertIn('rank tests and bootstrap intervals', out)
        rows = [line for line in out.splitlines() if '->' in line or line.endswith(('old', 'fresh'))]
        self.assertEqual(4, len(rows), out)
        self.assertRegex(rows[0], r'12\.50 +22\.50 +\+10\.00 +\+80\.0 +1\.80 \[1\.\d\d, 2\.\d\d\] +0\.\d+ +degradation +main->slow<int>$')
        self.assertIn('1 without a change that counts', out)
        self.assertIn('main->same', run('compare', self.base, self.target, '--all').out)

    def test_terminal(self):
        for columns in (40, 80, 200):
            shown = run_on_terminal('compare', self.base, self.target, columns=columns, env=common.environment(TERM='xterm', LC_ALL='C.UTF-8')).out
            self.assertIn('\x1b[1;31mworse\x1b[0m', shown)
            table = [line for line in shown.split('\n') if 'slow' in line and 'worse' not in line]
            self.assertTrue(table, shown)
        self.assertNotIn('→', run('compare', self.base, self.target, '--ascii').out)

    def test_markdown(self):
        out = run('compare', self.base, self.target, '--md').out
        self.assertTrue(out.startswith('## Performance: worse\n\n1 of 3 call paths got slower'), out)
        self.assertEqual(out.count('<details>'), out.count('</details>'))
        self.assertIn('| `main->slow<int>` ', out)
        self.assertIn('`main->fast\\|"&`', out)
        for line in out.splitlines():
            if line.startswith('|'):
                self.assertEqual(8, line.replace('\\|', '').count('|') - 1, line)

    def test_rows(self):
        rows = list(csv.DictReader(io.StringIO(run('compare', self.base, self.target, '--csv').out)))
        self.assertEqual(('', 'time'), (rows[0]['path'], rows[0]['metric']))
        found = {row['path']: row['finding'] for row in rows[1:]}
        self.assertEqual({'main->slow<int>': 'degradation', 'main->fast|"&': 'optimization', 'main->same': 'no change', 'old': 'gone', 'fresh': 'new'}, found)
        lines = [json.loads(line) for line in run('compare', self.base, self.target, '--jsonl').out.splitlines()]
        self.assertEqual([row['path'] or None for row in rows], [line['path'] for line in lines])

    def test_junit(self):
        report = self.path('report.xml')
        r = run('compare', self.base, self.target, '--json', '--junit', report)
        self.assertEqual((1, 'worse'), (r.status, r.json['verdict']))
        suite = xml.parse(report).getroot().find('testsuite')
        cases = {case.get('name'): case for case in suite.findall('testcase')}
        self.assertEqual({'(total)', 'main->slow<int>', 'main->fast|"&', 'main->same', 'old', 'fresh'}, set(cases))
        failed = [name for name, case in cases.items() if case.find('failure') is not None]
        self.assertEqual(['main->slow<int>'], failed)
        self.assertEqual(('6', '1'), (suite.get('tests'), suite.get('failures')))
        self.assertIn('+80.0 %', cases['main->slow<int>'].find('failure').get('message'))
        run('compare', self.base, self.target, '--junit', report, '--fail-on', 'never')
        self.assertEqual('0', xml.parse(report).getroot().get('failures'))

    def test_sarif(self):
        report = self.path('report.sarif')
        self.assertEqual(1, run('compare', self.base, self.target, '--sarif', report).status)
        with open(report) as f:
            document = json.load(f)
        results = document['runs'][0]['results']
        self.assertEqual(('2.1.0', ['degradation']), (document['version'], [r['ruleId'] for r in results]))
        self.assertIn('main->slow<int>: degradation of time: ', results[0]['message']['text'])
        self.assertTrue(results[0]['locations'][0]['physicalLocation']['artifactLocation']['uri'].endswith('target.txt'))

    def test_reports_are_no_inputs(self):
        before = self.read('base.txt')
        self.assertEqual(3, run('compare', self.base, self.target, '--junit', self.base).status)
        self.assertEqual(3, run('compare', self.base, self.target, '--sarif', self.folder).status)
        self.assertEqual(before, self.read('base.txt'))
        self.assertEqual(3, run('compare', self.base, self.target, '--junit', '/nowhere/report.xml').status)


if __name__ == '__main__':
    common.main()
