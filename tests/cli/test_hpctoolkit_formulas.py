"""Formulas of HPCToolkit databases: those of experiment.xml and of metrics/*.yaml become derived metrics and further statistics."""
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run
import hpctoolkit
from hpctoolkit import SCOPES, STATISTICS, small, write_2021, write_4

TIME, CYCLES = 'CPUTIME (sec)', 'cycles'
SUMMARY = "select m.name, m.kind, c.source_id as context, s.statistic, s.value from summary s join metric m on m.id = s.metric join context c on c.id = s.context"


def lists(scope_of_kind):
    """{(metric, kind, context): values of the threads} as the database has them"""
    db, out = small(), {}
    for profile in db.profiles:
        for (context, metric, scope), value in db.stored(profile).items():
            if scope in scope_of_kind:
                out.setdefault((metric, scope_of_kind[scope], str(context)), []).append(value)
    return out


def sums(scope):
    """{(metric, context): sum over threads}"""
    return {(m, c): sum(v) for (m, _, c), v in lists({scope: scope}).items()}


def mean(values):
    return sum(values) / len(values)


def stddev(values):
    return math.sqrt(max(0, mean([v * v for v in values]) - mean(values) ** 2))


def alias(metric, scope, how='sum'):
    return f'{metric.split()[0]}-{how}-{scope}'


def inputs(hows=('sum',)):
    out = 'version: 0\ninputs:\n'
    for metric in (TIME, CYCLES):
        for scope in SCOPES:
            for name, formula, combine, _ in STATISTICS:
                if name in hows:
                    out += f'  - &{alias(metric, scope, name)}\n    metric: {metric}\n    scope: {scope}\n    formula: {formula}\n    combine: {("sum", "min", "max")[combine]}\n'
    return out


RATE = '{/: [*cycles-sum-%s, *CPUTIME-sum-%s]}'


class Formulas(Case):
    def nodes(self, path, name):
        rows = run('sql', '--json', path, f"select c.source_id as context, n.inclusive, n.exclusive from node n join metric m on m.id = n.metric join context c on c.id = n.context where m.name = '{name}' and m.kind = 'derived'").json
        return {r['context']: (r['inclusive'], r['exclusive']) for r in rows}

    def check_rate(self, found, scope, has_inclusive=True):
        """cycles / time: inclusive of the execution scope, exclusive of the other"""
        inclusive, exclusive = sums('execution'), sums(scope)
        contexts = {c for m, c in inclusive if m == TIME and not c == '40'}
        for context in contexts:
            for side, table in ((0, inclusive), (1, exclusive)):
                time = table.get((TIME, context))
                expected = table.get((CYCLES, context), 0) / time if time and (side or has_inclusive) else None
                got = found.get(context, (None, None))[side]
                with self.subTest(context=context, side=side):
                    if expected is None:
                        self.assertIsNone(got)
                    else:
                        self.assertAlmostEqual(got, expected, delta=1e-9 * abs(expected))

    def statistics(self, path):
        return {(r['name'], r['kind'], r['context'], r['statistic']): r['value'] for r in run('sql', '--json', path, SUMMARY).json}

    def check_statistics(self, path, scope_of_kind):
        found = self.statistics(path)
        expected = lists(scope_of_kind)
        self.assertTrue(expected)
        for (metric, kind, context), values in expected.items():
            with self.subTest(metric=metric, kind=kind, context=context):
                self.assertAlmostEqual(found[metric, kind, context, 'mean'], mean(values), delta=1e-12 * mean(values))
                self.assertAlmostEqual(found[metric, kind, context, 'stddev'], stddev(values), delta=1e-6 * mean(values))
                self.assertEqual(found[metric, kind, context, 'sum'], sum(values))

    # ---- --derive

    def test_derive_views(self):
        """Both frames of solve (5 and 13, the second inside the first) together: the ratio of their sums."""
        derive = ('--derive', f"rate = cycles / '{TIME}'", '--derive', f"share = 100 * '{TIME}' / @'{TIME}'")
        exclusive, inclusive = sums('function'), sums('execution')
        for write, name, scope in ((write_2021, 'a', 'function'), (write_4, 'b', 'lex_aware')):
            path = self.path(name)
            write(path, small())
            exclusive = sums(scope)
            todo, found = [run('tree', '--json', '--bottom-up', path, *derive).json['root']], {}
            for node in todo[0]['children']:
                found[node['name']] = node['values']
            solve = found['solve']
            self.assertAlmostEqual(solve['rate']['inclusive'], inclusive[CYCLES, '5'] / inclusive[TIME, '5'], delta=1)
            time = exclusive[TIME, '5'] + exclusive[TIME, '13']
            self.assertAlmostEqual(solve['rate']['exclusive'], (exclusive.get((CYCLES, '5'), 0) + exclusive[CYCLES, '13']) / time, delta=1)
            self.assertAlmostEqual(solve['share']['inclusive'], 100 * inclusive[TIME, '5'] / inclusive[TIME, '0'])
            self.assertAlmostEqual(solve['share']['exclusive'], 100 * time / inclusive[TIME, '0'])
            self.assertAlmostEqual(found['exp']['rate']['inclusive'], 0)

    def test_derive_locations(self):
        """Line 25 (context 8) took 4e9 cycles in 2 s, and 6e9 in 3 s; context 14 exists in one thread."""
        path = self.path('db')
        write_4(path, small())
        result = run('stat', '--json', path, '--derive', f"rate = (cycles + 1e9) / '{TIME}'", '--metric', 'rate')
        self.assertFine(result)
        found = {c['source_id']: c['metrics']['rate']['inclusive'] for c in result.json['contexts'] if 'inclusive' in c['metrics'].get('rate', {})}
        self.assertAlmostEqual(found['8']['max'], 5e9 / 2)
        self.assertAlmostEqual(found['8']['min'], 7e9 / 3)
        self.assertAlmostEqual(found['14']['min'], (1e8 + 1e9) / 0.125)
        self.assertAlmostEqual(found['14']['max'], (1e8 + 1e9) / 0.125)

    def test_derive_by_id(self):
        """$n of an exclusive metric is the exclusive value of its pair, whatever is computed."""
        path = self.path('db')
        raw = write_2021(path, small())
        found = run('sql', '--json', path, '--derive', f"x = ${raw[TIME, 'function']} / ${raw[TIME, 'execution']}",
                    "select n.inclusive as i, n.exclusive as e from node n join metric m on m.id = n.metric join context c on c.id = n.context where m.name = 'x' and c.source_id = '5'").json
        own, total = sums('function')[TIME, '5'], sums('execution')[TIME, '5']
        self.assertAlmostEqual(found[0]['i'], own / total)
        self.assertAlmostEqual(found[0]['e'], 1)

    # ---- experiment.xml 4.0

    def write_2021(self, dense, extra=''):
        path = self.path('db')
        write_2021(path, small(), dense=dense)
        if extra:
            xml = self.read('db/experiment.xml').decode()
            self.write('db/experiment.xml', xml.replace('</MetricTable>', extra + '</MetricTable>'))
        return path

    def test_statistics_2021(self):
        for dense in (True, False):
            self.check_statistics(self.write_2021(dense), {'execution': 'inclusive', 'function': 'exclusive'})

    def test_ratio_2021(self):
        """A view metric without partials; ids of the dense scheme: 15 a metric, the sum being the second partial."""
        text = ''.join(f'<Metric i="{i}" o="{i}" n="rate ({letter})" md="cycles per second" v="derived-incr" t="{word}" show="1" fmt="%6.2f"><MetricFormula t="view" frm="${15 + 3 + k} / ${3 + k}"/></Metric>\n'
                       for i, letter, word, k in ((-90, 'I', 'inclusive', 2), (-91, 'E', 'exclusive', 1)))
        path = self.write_2021(True, text)
        self.check_rate(self.nodes(path, 'rate'), 'function')
        row = run('sql', '--json', path, "select m.description, a.key, a.value from metric m join attribute a on a.owner = 'metric' and a.owner_id = m.id where m.name = 'rate' order by a.key").json
        self.assertEqual([(r['description'], r['key'], r['value']) for r in row], [('cycles per second', 'format', '%6.2f'), ('cycles per second', 'formula', f"'{CYCLES}' / '{TIME}'")])

    def test_only_exclusive_2021(self):
        path = self.write_2021(True, '<Metric i="-91" n="rate (E)" v="derived-incr" t="exclusive" show="1"><MetricFormula t="view" frm="$19 / $4"/></Metric>\n')
        self.check_rate(self.nodes(path, 'rate'), 'function', has_inclusive=False)

    def test_wrong_formula_2021(self):
        for formula, words in (('$20 / $9999', 'no metric $9999'), ('$20 / (', 'ends'), ('$17 / $2', 'other statistics')):
            path = self.write_2021(True, f'<Metric i="-90" n="rate (I)" v="derived-incr" t="inclusive" show="1"><MetricFormula t="view" frm="{formula}"/></Metric>\n')
            problems = run('info', '--json', path).json['problems']
            self.assertEqual([p['rule'] for p in problems], ['formula'], problems)
            self.assertIn(words, problems[0]['message'])
            self.assertFine(run('tree', path))

    # ---- experiment.xml 2.x

    def write_2x(self, formula, values):
        """Metrics 4 and 6 (time, cycles) with their exclusive partners 5 and 7, and one that is only a formula; values: {id: number} of a function."""
        table = ''.join(f'<Metric i="{i}" o="{i}" n="{name}" v="derived-incr" t="{word}" partner="{p}" show="1">{text}</Metric>\n' for i, name, word, p, text in (
            (4, 'time:Sum (I)', 'inclusive', 5, '<MetricFormula t="finalize" frm="$4"/>'), (5, 'time:Sum (E)', 'exclusive', 4, '<MetricFormula t="finalize" frm="$5"/>'),
            (6, 'cycles:Sum (I)', 'inclusive', 7, ''), (7, 'cycles:Sum (E)', 'exclusive', 6, ''),
            (8, 'rate:Sum (I)', 'inclusive', 9, f'<MetricFormula t="view" frm="{formula}"/>'), (9, 'rate:Sum (E)', 'exclusive', 8, f'<MetricFormula t="view" frm="{formula}"/>')))
        inside = ''.join(f'<M n="{i}" v="{v}"/>' for i, v in values.items())
        self.write('experiment.xml', f'''<?xml version="1.0"?>
<HPCToolkitExperiment version="2.2"><Header n="x"><Info/></Header><SecCallPathProfile i="0" n="x"><SecHeader><MetricTable>{table}</MetricTable>
<LoadModuleTable><LoadModule i="2" n="/bin/x"/></LoadModuleTable><FileTable><File i="2" n="x.c"/></FileTable><ProcedureTable><Procedure i="3" n="main"/></ProcedureTable></SecHeader>
<SecCallPathProfileData>{inside}<PF i="2" s="3" l="1" lm="2" f="2" n="3">{inside}</PF></SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>''')
        return self.path('experiment.xml')

    def test_formulas_2x(self):
        for formula in ('#6 / #4', '$6/$4', '1 * ($6 / $4)'):
            found = self.nodes(self.write_2x(formula, {4: 2, 5: 0.5, 6: 10, 7: 4}), 'rate')
            self.assertEqual(found['2'], (5, 8), formula)

    def test_missing_values_2x(self):
        found = self.nodes(self.write_2x('$6 / $4', {6: 10, 7: 4, 5: 2}), 'rate')
        self.assertEqual(found['2'], (None, 2))

    def test_finalize_2x(self):
        """A metric that has values and a formula: both are there."""
        path = self.write_2x('$4 + 1', {4: 2, 5: 1, 6: 3, 7: 3, 8: 100, 9: 50})
        self.assertEqual(self.nodes(path, 'rate')['2'], (3, 2))
        rows = run('sql', '--json', path, "select v.value from value v join metric m on m.id = v.metric where m.source_id = '8'").json
        self.assertEqual({r['value'] for r in rows}, {100})

    # ---- metrics/*.yaml

    def write_4(self, yaml, **more):
        path = self.path('db4')
        write_4(path, small(), **more)
        os.makedirs(os.path.join(path, 'metrics'), exist_ok=True)
        self.write('db4/metrics/default.yaml', yaml)
        return path

    def test_ratio_4(self):
        for shape in ('nested', 'plain'):
            sides = {'nested': f"inclusive: {{standard: {RATE % ('execution', 'execution')}}}\n          exclusive: {{custom: {RATE % ('lex_aware', 'lex_aware')}, standard: {RATE % ('function', 'function')}}}",
                     'plain': f"inclusive: {RATE % ('execution', 'execution')}\n          exclusive: {RATE % ('function', 'function')}"}[shape]
            path = self.write_4(inputs() + f'roots:\n  - name: rate\n    description: cycles per second\n    variants:\n      Sum:\n        render: [number]\n        format: "%.1f"\n        formula:\n          {sides}\n')
            self.check_rate(self.nodes(path, 'rate'), 'lex_aware')
            self.assertEqual(run('info', '--json', path).json['problems'], [])

    def test_expressions_4(self):
        """Sequences are parentheses, scalars numbers and operators, maps functions."""
        total = sums('execution')
        time, cycles = total[TIME, '5'], total[CYCLES, '5']
        time_in, cycles_in = '*CPUTIME-sum-execution', '*cycles-sum-execution'
        for text, expected in ((f'[{cycles_in}, /, {time_in}]', cycles / time), (f'[2, "*", [{cycles_in}, +, {time_in}]]', 2 * (cycles + time)),
                               (f'{{"-": [{cycles_in}, {time_in}, 1]}}', cycles - time - 1), (f'{{"-": [{time_in}]}}', -time), (f'{{sqrt: [{time_in}]}}', math.sqrt(time)),
                               (f'{{pow: [{time_in}, 2]}}', time ** 2), (f'{{max: [{time_in}, {cycles_in}, 3]}}', cycles), (f'{{sum: [{time_in}, 1, 2]}}', time + 3),
                               (f'{{prod: [{time_in}, 4]}}', 4 * time), (f'{{floor: {time_in}}}', math.floor(time)), (f'{{strict ceil: [{{floor: {time_in}}}]}}', math.floor(time) + 1),
                               (f'{{^: [{time_in}, 2]}}', time ** 2), (f'{{log: [{cycles_in}, 10]}}', math.log10(cycles))):
            path = self.write_4(inputs() + f'roots:\n  - name: x\n    variants:\n      Sum:\n        formula:\n          inclusive: {text}\n')
            with self.subTest(text):
                self.assertAlmostEqual(self.nodes(path, 'x')['5'][0], expected, delta=1e-12 * abs(expected))

    def test_statistics_4(self):
        variants = ''
        for name, text in (('Mean', '{/: [*M-sum-S, *M-count-S]}'), ('StdDev', '{sqrt: [{"-": [{/: [*M-sumsq-S, *M-count-S]}, {^: [{/: [*M-sum-S, *M-count-S]}, 2]}]}]}')):
            part = {s: text.replace('M-', 'CPUTIME-').replace('-S', '-' + s) for s in SCOPES}
            variants += (f'      {name}:\n        formula:\n          inclusive: {{standard: {part["execution"]}}}\n'
                         f'          exclusive:\n            custom: {part["lex_aware"]}\n            standard: {part["function"]}\n')
        path = self.write_4(inputs([s[0] for s in STATISTICS]) + f'roots:\n  - name: {TIME}\n    variants:\n{variants}')
        found = self.statistics(path)
        kinds = {'execution': 'inclusive', 'function': 'exclusive', 'lex_aware': 'lexical'}
        for (metric, kind, context), values in lists(kinds).items():
            self.assertEqual((metric, kind, context, 'mean') in found, metric == TIME)
            if metric == TIME:
                self.assertAlmostEqual(found[metric, kind, context, 'mean'], mean(values))
                self.assertAlmostEqual(found[metric, kind, context, 'stddev'], stddev(values), delta=1e-6 * mean(values))
        self.assertEqual([m['kind'] for m in run('info', '--json', path).json['metrics'] if m['kind'] == 'derived'], [])

    def test_descriptions_4(self):
        path = self.write_4(inputs() + f'''roots:
  - name: Time
    children:
      - name: {TIME}
        description: "CPU time"
        short description: time
        visible by default: false
''')
        rows = run('sql', '--json', path, f"select distinct description from metric where name = '{TIME}'").json
        self.assertEqual([r['description'] for r in rows], ['CPU time'])
        rows = run('sql', '--json', path, f"select a.key, a.value from attribute a join metric m on a.owner = 'metric' and a.owner_id = m.id where m.name = '{TIME}' order by 1").json
        self.assertEqual([(r['key'], r['value']) for r in rows], [('group', 'Time'), ('short description', 'time'), ('visible by default', 'false')])

    def test_sums_of_children_4(self):
        path = self.write_4(inputs() + f'''roots:
  - name: both
    variants:
      Sum: {{formula: sum}}
    children:
      - name: {TIME}
        variants:
          Sum: {{formula: {{inclusive: *CPUTIME-sum-execution, exclusive: *CPUTIME-sum-function}}}}
      - name: {CYCLES}
        variants:
          Sum: {{formula: {{inclusive: *cycles-sum-execution, exclusive: *cycles-sum-function}}}}
''')
        total = sums('execution')
        self.assertEqual(self.nodes(path, 'both')['5'][0], total[TIME, '5'] + total[CYCLES, '5'])

    def test_damaged_4(self):
        """A warning, and the database is there."""
        good = inputs() + f'roots:\n  - name: rate\n    variants:\n      Sum:\n        formula:\n          inclusive: {RATE % ("execution", "execution")}\n'
        laughs = 'version: 0\nroots:\n  - &a0 {name: x}\n' + ''.join(f'  - &a{i} {{name: x{i}, children: [{", ".join([f"*a{i - 1}"] * 10)}]}}\n' for i in range(1, 10))
        deep = inputs() + 'x:\n  - &b0 *CPUTIME-sum-execution\n'.replace('&b0 *CPUTIME-sum-execution', '&b0 {max: [1]}') + ''.join(f'  - &b{i} {{max: [*b{i - 1}]}}\n' for i in range(1, 500)) + \
            'roots:\n  - name: x\n    variants: {Sum: {formula: {inclusive: *b499}}}\n'
        wide = inputs() + 'x:\n  - &b0 {max: [1, *CPUTIME-sum-execution]}\n' + ''.join(f'  - &b{i} {{max: [*b{i - 1}, *b{i - 1}]}}\n' for i in range(1, 60)) + \
            'roots:\n  - name: x\n    variants: {Sum: {formula: {inclusive: *b59}}}\n'
        for text, rule in ((good[:-40], 'yaml-damaged'), ('[' * 1000, 'yaml-limit'), ('version: 1\n', 'metrics-version'), ('', 'metrics-version'), (laughs, 'yaml-limit'), (deep, 'formula'), (wide, 'formula'),
                           (good.replace('cycles-sum-execution, ', 'nobody, '), 'yaml-damaged'), (good.replace('{/:', '{nonsense:'), 'formula'),
                           (good.replace(f'metric: {CYCLES}', 'metric: other'), 'formula'), (b'\xff\xfe\0', 'yaml-damaged')):
            with self.subTest(text[:40], rule=rule):
                path = self.write_4(text)
                result = run('info', '--json', path)
                self.assertEqual(result.status, 0, result)
                self.assertIn(rule, [p['rule'] for p in result.json['problems']])
                self.assertEqual({p['severity'] for p in result.json['problems']}, {'warning'})
                self.assertEqual(run('sql', '--json', path, "select count(*) as n from value").json, run('sql', '--json', self.write_4(good), "select count(*) as n from value").json)


if __name__ == '__main__':
    main()
