"""What is reckoned with HPCToolkit databases: values asked by context and by location, nodes, statistics, differences, means, parts of trees, and Cube files of them."""
import json
import os
import shutil
import sqlite3
import unittest.mock

import hpctoolkit
from common import Case, main, run

TIME, CYCLES = 'CPUTIME (sec)', 'cycles'


def sums(db, metric, scope):
    """{context id: sum over profiles}."""
    out = {}
    for profile in db.profiles:
        for (context, m, s), value in db.stored(profile).items():
            if (m, s) == (metric, scope):
                out[context] = out.get(context, 0) + value
    return out


def each(node):
    yield node
    for child in node['children']:
        yield from each(child)


class Numbers(Case):
    def setUp(self):
        super().setUp()
        self.db = hpctoolkit.small()
        hpctoolkit.write_2021(self.path('old'), self.db)
        hpctoolkit.write_4(self.path('new'), self.db)

    def rows(self, path, sql):
        result = run('sql', '--json', self.path(path), sql)
        self.assertFine(result)
        return [tuple(row.values()) for row in result.json]

    def nodes(self, path, metric):
        """{context id: (inclusive, exclusive)}, None where there is none."""
        return {int(c): (i, e) for c, i, e in self.rows(path, "select c.source_id, n.inclusive, n.exclusive from node n join metric m on m.id = n.metric "
                                                        f"join context c on c.id = n.context where m.name = '{metric}'")}

    def test_values_are_the_same_whichever_way_they_are_asked_for(self):
        for path, scopes in ('old', 2), ('new', 4):
            everything = self.rows(path, 'select metric, context, location, value from value')
            self.assertEqual(len(everything), len(set(everything)))
            kinds = dict(self.rows(path, 'select id, kind from metric'))
            self.assertEqual(2 * scopes, len(kinds))
            stored = sum(len([k for k in self.db.stored(p) if scopes == 4 or k[2] in ('execution', 'function')]) for p in self.db.profiles)
            self.assertEqual(stored, len(everything))
            by_context, by_location = [], []
            for (context,) in self.rows(path, 'select id from context'):
                by_context += self.rows(path, f'select metric, context, location, value from value where context = {context}')
            for (location,) in self.rows(path, 'select id from location'):
                by_location += self.rows(path, f'select metric, context, location, value from value where location = {location}')
            self.assertEqual(sorted(everything), sorted(by_context))
            self.assertEqual(sorted(everything), sorted(by_location))
            self.assertNotIn(0, [value for *_, value in everything])

    def test_nodes_without_inclusive_values(self):
        """Points and lexical values are spent at the place itself: none of them is inclusive, and the lexical ones stand for all."""
        for scopes, shown in (['point', 'lex_aware'], 'lex_aware'), (['point'], 'point'), (['point', 'function'], 'function'), (['function', 'lex_aware'], 'lex_aware'):
            with self.subTest(scopes), unittest.mock.patch.object(hpctoolkit, 'SCOPES', scopes):
                name = '-'.join(scopes)
                hpctoolkit.write_4(self.path(name), self.db)
                expected = {c: (None, v) for c, v in sums(self.db, TIME, shown).items()}
                self.assertEqual(expected, self.nodes(name, TIME))
                tree = run('tree', '--json', self.path(name)).json
                self.assertEqual([TIME, CYCLES], tree['metrics'])
                line = [n for n in each(tree['root']) if n['source_id'] == '8'][0]
                self.assertEqual({TIME: {'exclusive': 5.0}, CYCLES: {'exclusive': 1e10}}, line['values'])
                self.assertEqual(0, run('convert', '-q', '--to', 'hpctoolkit-4', self.path(name), self.path(name + '-again')).status)
                self.assertEqual(expected, self.nodes(name + '-again', TIME))

    def test_nodes_are_those_of_the_inclusive_metric(self):
        for path, scope in ('old', 'function'), ('new', 'lex_aware'):
            for metric in TIME, CYCLES:
                inclusive, exclusive = sums(self.db, metric, 'execution'), sums(self.db, metric, scope)
                wanted = {c: (inclusive.get(c), exclusive.get(c)) for c in inclusive.keys() | exclusive.keys()}
                self.assertEqual(wanted, self.nodes(path, metric))

    def test_a_difference_is_that_of_the_nodes(self):
        other = hpctoolkit.small()
        other.profiles[0].costs[8, TIME] += 1.5
        other.profiles[1].costs[14, TIME] = 2.0
        hpctoolkit.write_4(self.path('later'), other)
        before, after = sums(self.db, TIME, 'execution'), sums(other, TIME, 'execution')
        result = run('diff', '--json', '--metric', TIME, self.path('new'), self.path('later'))
        self.assertFine(result)
        found = {}

        def walk(node):
            if node['name'] in ('main', 'exp'):
                found[node['name']] = node['values'][TIME]['change']['inclusive']
            for child in node['children']:
                walk(child)
        walk(result.json['root'])
        self.assertEqual({'main': after[2] - before[2], 'exp': 0}, found)
        written = run('diff', '--quiet', '-o', self.path('change.sqlite'), self.path('new'), self.path('later'))
        self.assertEqual(0, written.status, written)

    def test_statistics_are_over_all_threads(self):
        for path in 'old', 'new':
            result = run('stat', '--json', self.path(path))
            self.assertFine(result)
            main = next(c for c in result.json['contexts'] if c['path'] == '<program root>->main')['metrics'][TIME]
            each = [p.costs.get((3, TIME), 0) for p in self.db.profiles if p.elements[-1][0] == 'THREAD']  # what main has outside of what it calls; the stream takes no part
            self.assertEqual((2, sum(each), max(each), min(each)), tuple(main['exclusive'][k] for k in ('count', 'sum', 'max', 'min')))
            self.assertEqual(9.125, main['inclusive']['sum'])

    def test_parts_of_a_tree_keep_their_values(self):
        result = run('cut', '--root', 'solve', '--json', self.path('old'))
        self.assertFine(result)
        root = result.json['root']
        self.assertEqual(('solve', {'inclusive': 6.375, 'exclusive': 5.25}), (root['name'], root['values'][TIME]))

    def test_what_is_pruned_becomes_its_callers_own(self):
        for path in 'old', 'new':
            result = run('cut', '--prune', 'square', '-o', self.path(path + '.sqlite'), self.path(path))
            self.assertEqual(0, result.status, result)
            written = sqlite3.connect(self.path(path + '.sqlite'))
            self.addCleanup(written.close)
            got = written.execute("select c.name, n.inclusive, n.exclusive from node n join metric m on m.id = n.metric and m.name = 'CPUTIME (sec)' "
                                  "join context c on c.id = n.context where c.name in ('main', 'solve', 'square', 'exp') order by n.context").fetchall()
            # solve: 5.25 in its loops, and 1 of square; the solve that it calls and main stay
            self.assertEqual([('main', 9.125, 0.75), ('solve', 6.375, 6.25), ('solve', 0.125, 0.125), ('exp', 2.0, 2.0)], got)

    def test_a_cube_file_has_the_inclusive_values(self):
        written = run('convert', self.path('old'), self.path('out.cubex'))
        self.assertEqual(0, written.status, written)
        self.assertIn('exclusive values of 2 metrics', written.err)
        self.assertIn('1 context without a place', written.err)
        inclusive = {c: v for c, v in sums(self.db, TIME, 'execution').items() if c != 40}
        names = {n.id: n.name for n in self.db.nodes()}
        found = self.rows('out.cubex', f"select c.name, n.inclusive from node n join metric m on m.id = n.metric join context c on c.id = n.context where m.name = '{TIME}'")
        self.assertEqual(sorted(v for c, v in inclusive.items() if names.get(c) in ('main', 'solve', 'exp')),
                         sorted(v for name, v in found if name in ('main', 'solve', 'exp')))
        self.assertNotIn(('<context 40>', 0.0625), found)

    def test_validate_finds_a_cct_that_is_not_the_transpose(self):
        other = hpctoolkit.small()
        other.profiles[0].costs[3, TIME] = 0.75
        for write in hpctoolkit.write_2021, hpctoolkit.write_4:
            write(self.path('one'), self.db)
            write(self.path('two'), other)
            fine = run('validate', self.path('one'))
            self.assertEqual(0, fine.status, fine)
            shutil.copy(os.path.join(self.path('two'), 'cct.db'), os.path.join(self.path('one'), 'cct.db'))
            result = run('validate', '--json', self.path('one'))
            rules = [p['rule'] for p in json.loads(result.out)] if result.out else []
            self.assertIn('cct-transpose', rules, result)

    def test_models_need_parameters(self):
        self.assertFails(run('model', self.path('old')), 3, 'no parameters')


if __name__ == '__main__':
    main()
