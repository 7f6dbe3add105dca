"""Databases with an experiment.xml, of 2021 and 2.x, as the command sees them. What is expected comes from the nodes and costs that the databases are made of."""
import math
import os
import unittest

from common import Case, run
import hpctoolkit

TIME = 'CPUTIME (sec)'
KINDS = {'execution': 'inclusive', 'function': 'exclusive'}


def name_of(node, file):
    if node.kind in ('entry', 'function'):
        return node.name
    return {'loop': 'loop at', 'call': 'call'}.get(node.kind, 'line') + f' {node.file or file}:{node.line}'


def tree_of(db, unknown_file):
    """{node id: (parent's id, name, path)}"""
    out = {}

    def down(node, parent, path, file):
        file = node.file or (unknown_file if node.kind in ('entry', 'function') and unknown_file != '<inherited>' else file)
        name = name_of(node, file)
        out[node.id] = (parent, name, [*path, name])
        for child in node.children:
            down(child, node.id, [*path, name], file)
    for root in db.roots:
        down(root, 0, [], None)
    return out


class Database(Case):
    def setUp(self):
        super().setUp()
        self.db = hpctoolkit.small()
        self.database = os.path.join(self.folder, 'database')

    def change(self, change, name='experiment.xml'):
        """The file with its bytes changed; None removes it."""
        path = os.path.join(self.database, name)
        with open(path, 'rb') as f:
            data = change(f.read())
        os.remove(path)
        if data is not None:
            with open(path, 'wb') as f:
                f.write(data)

    def sql(self, statement, path=None):
        result = run('sql', '--json', path or self.database, statement)
        self.assertEqual(0, result.status, result)
        return result.json

    def refused(self, *words, path=None):
        """Every way in ends with 3 and one line that has these words; nothing on standard output."""
        for command in (['info'], ['tree'], ['sql', 'select * from context']):
            result = run(command[0], path or self.database, *command[1:])
            self.assertEqual(3, result.status, result)
            self.assertEqual('', result.out)
            self.assertEqual(1, result.err.count('\n'), result)
            for word in words:
                self.assertIn(word, result.err)
        self.assertIn(run('validate', path or self.database).status, (1, 3))

    def check_tree(self, ids, unknown_file):
        rows = {int(r['source_id']): r for r in self.sql('select c.source_id, c.name, c.path, c.depth, p.source_id as parent from context c left join context p on p.id = c.parent')}
        for node, (parent, name, path) in tree_of(self.db, unknown_file).items():
            row = rows[ids[node]]
            self.assertEqual((name, '->'.join(path), len(path), str(ids[parent])), (row['name'], row['path'], row['depth'], row['parent']))
        return rows


class Of2021(Database):
    def setUp(self):
        super().setUp()
        self.raw = hpctoolkit.write_2021(self.database, self.db)

    def test_the_tree(self):
        rows = self.check_tree({node: node for node in [0, *(n.id for n in self.db.nodes())]}, '<inherited>')
        self.assertEqual({0, 40, *(n.id for n in self.db.nodes())}, set(rows))
        self.assertEqual(('<root>', 0, None), (rows[0]['name'], rows[0]['depth'], rows[0]['parent']))
        self.assertEqual(('<context 40>', None), (rows[40]['name'], rows[40]['parent']))
        regions = self.sql("select r.kind, r.name, r.file, r.module, r.line_begin from context c join region r on r.id = c.region where c.source_id in ('5', '13')")
        self.assertEqual(2, len(regions))
        for region in regions:
            self.assertEqual({'kind': 'function', 'name': 'solve', 'file': './src/solve.c', 'module': '/opt/app/bin/app', 'line_begin': 20}, region)

    def test_both_numberings_of_metrics(self):
        for dense in (True, False):
            path = os.path.join(self.folder, f'dense-{dense}')
            raw = hpctoolkit.write_2021(path, self.db, dense=dense)
            rows = self.sql("select source_id, name, kind, unit from metric where kind != 'derived'", path)
            self.assertEqual({(str(i), m, KINDS[s], 'sec' if m == TIME else None) for (m, s), i in raw.items()}, {(r['source_id'], r['name'], r['kind'], r['unit']) for r in rows})
            stored = [self.db.stored(p) for p in self.db.profiles]
            sums = {}
            for values in stored:
                for (c, m, s), v in values.items():
                    if (m, s) in raw:
                        sums.setdefault((c, raw[m, s]), []).append(v)
            rows = self.sql("select c.source_id as c, m.source_id as m, s.statistic, s.value from summary s join context c on c.id = s.context join metric m on m.id = s.metric where s.statistic in ('count', 'sum', 'sumsq', 'min', 'max')", path)
            self.assertEqual({(c, m, n): function(v) for (c, m), v in sums.items() for n, _, _, function in hpctoolkit.STATISTICS},
                             {(int(r['c']), int(r['m']), r['statistic']): r['value'] for r in rows})

    def test_names_with_quotes_and_backslashes(self):
        self.change(lambda x: x.replace(b'n="square"', b'n="operator\\"\\" _sq(unsigned long)"').replace(b'n="./src/main.c"', b'n="C:\\src\\"').replace(b'n="exp"', b'n="f&lt;T&amp;&gt;&#8364;"'))
        names = {r['source_id']: r['name'] for r in self.sql('select source_id, name from context')}
        self.assertEqual('operator"" _sq(unsigned long)', names['10'])
        self.assertEqual('line C:\\src\\:7', names['3'])
        self.assertEqual('f<T&>€', names['16'])

    def test_a_database_is_any_of_its_files(self):
        whole = self.sql('select count(*) as n, sum(value) as s from value')
        for name in ('experiment.xml', 'profile.db', 'cct.db', 'trace.db'):
            self.assertEqual(whole, self.sql('select count(*) as n, sum(value) as s from value', os.path.join(self.database, name)))
        result = run('info', 'experiment.xml', cwd=self.database)
        self.assertEqual(0, result.status, result)
        self.assertEqual('hpctoolkit-2021', run('info', '--json', '.', cwd=self.database).json['format'])

    def test_damage_has_a_place(self):
        cases = [
            (lambda x: x.replace(b'HPCToolkitExperiment', b'SomethingElse'), []),
            (lambda x: b'', []),
            (lambda x: x[:len(x) // 2], ['experiment.xml']),
            (lambda x: x.replace(b'<PF i="2"', b'<PF i="two"'), ['experiment.xml', "'two'"]),
            (lambda x: x.replace(b'<S i="3"', b'<S j="3"'), ['experiment.xml', 'id']),
            (lambda x: x.replace(b'</L>', b'</C>', 1), ['experiment.xml', 'match']),
            (lambda x: x.replace(b'<MetricDB i="2"', b'<MetricDB i="x"'), ['experiment.xml', '65535']),
            (lambda x: x.replace(b'version="4.0"', b'version="5.0"'), ['5.0']),
            (lambda x: x.replace(b'version="4.0"', b'version="3.0"'), ['3.0']),
            (lambda x: x.replace(b'<FileTable>', b'<FileTable x="\xff">'), ['UTF-8']),
            (lambda x: None, []),
        ]
        for number, (change, words) in enumerate(cases):
            with self.subTest(number=number):
                self.database = os.path.join(self.folder, f'damaged-{number}')
                hpctoolkit.write_2021(self.database, self.db)
                self.change(change)
                self.refused(*words)

    def test_a_line_and_a_column(self):
        self.change(lambda x: b'<?xml version="1.0"?>\n<HPCToolkitExperiment version="4.0"><Header n="x"/><SecCallPathProfile><SecCallPathProfileData>\n<PF i="1"><S  i="no"/></PF>')
        self.refused('experiment.xml:3:18: ')

    def test_another_minor_version_is_a_note(self):
        self.change(lambda x: x.replace(b'version="4.0"', b'version="4.7"'))
        info = run('info', '--json', self.database).json
        self.assertEqual('4.7', info['format_version'])
        self.assertEqual([('note', 'unknown-version')], [(p['severity'], p['rule']) for p in info['problems']])

    def test_files_of_another_form_beside_it(self):
        other = os.path.join(self.folder, 'other')
        hpctoolkit.write_4(other, self.db)
        with open(os.path.join(other, 'profile.db'), 'rb') as f:
            data = f.read()
        self.change(lambda _: data, 'profile.db')
        self.refused('profile.db')

    def test_an_id_for_two_metrics(self):
        self.change(lambda x: x.replace(b'</MetricDBTable>', b'<MetricDB i="2" n="other (I)"/>\n</MetricDBTable>'))
        info = run('info', '--json', self.database).json
        self.assertEqual(['metric-twice'], [p['rule'] for p in info['problems']])
        self.assertEqual(4, len([m for m in info['metrics'] if m['kind'] != 'derived']))

    def test_samples_name_contexts_by_it(self):
        self.change(lambda x: x.replace(b'<S i="3" it="3"', b'<S i="3" it="17"').replace(b'<S i="17" it="17"', b'<S i="17" it="39"'))
        rows = self.sql('select c.source_id as c, count(*) as n from event e join context c on c.id = e.context group by 1 order by 1')
        counts = {r['c']: r['n'] for r in rows}
        # Samples of 17 are those of context 3 now; those of 3 have no element with this number, so they are context 3's as well
        self.assertEqual(4, counts['3'])
        self.assertNotIn('17', counts)

    def test_sources_and_titles(self):
        attributes = {(r['key'], r['value']) for r in self.sql("select key, value from attribute where owner = 'dataset'")}
        self.assertLessEqual({('title', 'small'), ('source', './src/main.c'), ('source', './src/solve.c'), ('source', './src/square.h')}, attributes)


class Of2x(Database):
    def test_the_tree(self):
        for version in ('2.0', '2.1', '2.2'):
            xml = hpctoolkit.write_xml(self.database, self.db, version)
            rows = self.check_tree(xml.ids, '~unknown-file~')
            self.assertEqual(set(xml.ids.values()), set(rows))
            self.assertEqual(('<root>', 0), (rows[1]['name'], rows[1]['depth']))
            info = run('info', '--json', self.database).json
            self.assertEqual(('hpctoolkit-xml', version, 2), (info['format'], info['format_version'], info['locations']))

    def test_values_of_the_document_and_of_threads(self):
        xml = hpctoolkit.write_xml(self.database, self.db)
        n = len(xml.metrics)
        rows = self.sql('select c.source_id as c, m.source_id as m, l.source_id as l, v.value from value v join context c on c.id = v.context join metric m on m.id = v.metric left join location l on l.id = v.location')
        inline = {(int(r['c']), int(r['m'])): r['value'] for r in rows if r['l'] is None}
        self.assertEqual({(xml.ids[c], n + xml.metrics.index((m, s))): float(f'{v:.6g}') for (c, m, s), v in xml.sums.items()}, inline)
        own = {}
        for place, profile in (('0.0', self.db.profiles[0]), ('1.0', self.db.profiles[1])):
            own.update({(place, xml.ids[c], xml.metrics.index((m, s))): v for (c, m, s), v in self.db.stored(profile).items() if c in xml.ids and (m, s) in xml.metrics})
        self.assertEqual(own, {(r['l'], int(r['c']), int(r['m'])): r['value'] for r in rows if r['l'] is not None})

    def test_inclusive_and_exclusive_are_one_metric_of_the_tree(self):
        xml = hpctoolkit.write_xml(self.database, self.db)
        rows = self.sql(f"select c.source_id as c, n.inclusive, n.exclusive from node n join context c on c.id = n.context join metric m on m.id = n.metric where m.name = '{TIME}:Sum'")
        got = {int(r['c']): (r['inclusive'] or 0, r['exclusive'] or 0) for r in rows}
        for node, number in xml.ids.items():
            want = [xml.sums.get((node, TIME, s), 0) for s in ('execution', 'function')]
            for a, b in zip(want, got.get(number, (0, 0))):
                self.assertTrue(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-12), (node, want, got.get(number)))

    def test_traces(self):
        for version, ticks, per_second in (('2.2', 1000000000, 1e9), ('2.0', None, 1e6), ('2.1', None, 1e9)):
            xml = hpctoolkit.write_xml(self.database, self.db, version, ticks)
            rows = self.sql('select l.source_id as l, e.start_raw, e.start, c.source_id as c from event e join location l on l.id = e.location left join context c on c.id = e.context')
            named = {n.id for n in self.db.nodes() if n.kind not in ('entry', 'function', 'loop')}
            want = {('%d.0' % i, t, str(xml.ids[c]) if c in named else None) for i, p in enumerate(self.db.profiles[:2]) for t, c in p.trace}
            self.assertEqual(want, {(r['l'], r['start_raw'], r['c']) for r in rows})
            first = min(t for p in self.db.profiles for t, _ in p.trace)
            for r in rows:
                self.assertAlmostEqual((r['start_raw'] - first) / per_second, r['start'], delta=1e-6)

    def test_damage(self):
        cases = [
            (lambda x: x.replace(b'HPCToolkitExperiment', b'SomethingElse'), []),
            (lambda x: x[:len(x) // 2], ['experiment.xml']),
            (lambda x: x.replace(b'<M n="4" v="', b'<M n="4" v="much', 1), ['experiment.xml', 'much']),
            (lambda x: x.replace(b'<C i="', b'<C i="x', 1), ['experiment.xml']),
        ]
        for number, (change, words) in enumerate(cases):
            with self.subTest(number=number):
                self.database = os.path.join(self.folder, f'damaged-{number}')
                hpctoolkit.write_xml(self.database, self.db)
                self.change(change)
                self.refused(*words)

    def test_raw_values_are_added_up_along_the_tree(self):
        hpctoolkit.write(self.database, {'experiment.xml': b'''<HPCToolkitExperiment version="2.0"><Header n="t"/><SecCallPathProfile i="0" n="t">
<SecHeader><MetricTable><Metric i="0" n="CYC" v="raw"/></MetricTable></SecHeader><SecCallPathProfileData>
<PF i="2" n="main" f="m.c" lm="app" l="1"><S i="3" l="2"><M n="0" v="3"/></S><S i="4" l="3"><M n="0" v="4"/></S></PF>
</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>'''})
        rows = self.sql('select c.source_id as c, n.inclusive from node n join context c on c.id = n.context')
        self.assertEqual({'1': 7, '2': 7, '3': 3, '4': 4}, {r['c']: r['inclusive'] for r in rows})

    def test_raw_values_are_exclusive_values_of_the_calls_around_them(self):
        # a line in two loops (5), one in the outer loop (3), one in inlined code (2), and those of a function that is called (7)
        hpctoolkit.write(self.database, {'experiment.xml': b'''<HPCToolkitExperiment version="2.2"><Header n="t"/><SecCallPathProfile i="0" n="t">
<SecHeader><MetricTable><Metric i="0" n="CYC" v="raw" t="nil"/></MetricTable></SecHeader><SecCallPathProfileData>
<PF i="2" n="main" f="m.c" lm="app" l="1"><L i="3" l="2"><L i="4" l="3"><S i="5" l="4"><M n="0" v="5"/></S></L><S i="6" l="2"><M n="0" v="3"/></S></L>
<Pr i="7" n="put" f="p.h" lm="app" l="1" a="1"><S i="8" l="2"><M n="0" v="2"/></S></Pr>
<C i="9" l="9"><PF i="10" n="work" f="m.c" lm="app" l="20"><S i="11" l="21"><M n="0" v="7"/></S></PF></C></PF>
</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>'''})
        exclusive = {'1': 0, '2': 10, '3': 3, '4': 5, '5': 5, '6': 3, '7': 2, '8': 2, '9': 0, '10': 7, '11': 7}
        rows = self.sql('select c.source_id as c, n.exclusive from node n join context c on c.id = n.context')
        self.assertEqual(exclusive, {r['c']: r['exclusive'] for r in rows})
        values = self.sql('select c.source_id as c, v.value from value v join context c on c.id = v.context')
        self.assertEqual({'5': 5, '6': 3, '8': 2, '11': 7}, {r['c']: r['value'] for r in values})
        bottom_up = run('tree', '--json', '--bottom-up', self.database).json['root']['children']
        self.assertEqual({'main': {'inclusive': 17, 'exclusive': 10}, 'work': {'inclusive': 7, 'exclusive': 7}},
                         {n['name']: n['values']['CYC'] for n in bottom_up if n['name'] in ('main', 'work')})
        flat = run('tree', '--json', '--flat', self.database).json['root']['children']
        self.assertEqual([('app', 17)], [(n['name'], n['values']['CYC']['exclusive']) for n in flat])
        statistics = run('stat', '--json', self.database).json
        self.assertEqual([10], [c['metrics']['CYC']['exclusive']['sum'] for c in statistics['contexts'] if c['path'] == 'main'])
        for form in ('hpctoolkit-2021', 'hpctoolkit-4'):
            written = os.path.join(self.folder, form)
            self.assertEqual(0, run('convert', '--to', form, self.database, written).status)
            rows = run('sql', '--json', written, "select c.name as c, sum(v.value) as v from value v join context c on c.id = v.context "
                                  "join metric m on m.id = v.metric where m.kind = 'exclusive' group by c.name").json
            self.assertEqual({'main': 10, 'work': 7, 'put': 2, 'loop at m.c:2': 3, 'loop at m.c:3': 5},
                             {r['c']: r['v'] for r in rows if not r['c'].startswith('line')})

    def test_places_of_inlined_code_are_written_as_lines(self):
        hpctoolkit.write(self.database, {'experiment.xml': b'''<HPCToolkitExperiment version="2.2"><Header n="t"/><SecCallPathProfile i="0" n="t">
<SecHeader><MetricTable><Metric i="0" n="CYC (I)" v="final" t="inclusive" partner="1"/><Metric i="1" n="CYC (E)" v="final" t="exclusive" partner="0"/></MetricTable>
<ProcedureTable><Procedure i="5" n=""/></ProcedureTable></SecHeader><SecCallPathProfileData>
<PF i="2" n="main" f="m.c" lm="app" l="1"><M n="0" v="7"/><M n="1" v="7"/><Pr i="3" n="5" f="m.c" lm="app" l="9" a="1"><M n="0" v="7"/><M n="1" v="7"/>
<Pr i="4" n="put" f="p.h" lm="app" l="1" a="1"><M n="0" v="7"/><M n="1" v="7"/><S i="5" l="2"><M n="0" v="7"/><M n="1" v="7"/></S></Pr></Pr></PF>
</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>'''})
        self.assertIn('[I] inlined from m.c: 9', run('tree', '--all', self.database).out)
        for form in ('hpctoolkit-2021', 'hpctoolkit-4'):
            written = os.path.join(self.folder, form)
            self.assertEqual(0, run('convert', '--to', form, self.database, written).status)
            rows = run('sql', '--json', written, "select source_id as i, name from context where source_id in ('2', '3', '4', '5')").json
            self.assertEqual({'2': 'main', '3': 'line m.c:9', '4': 'put', '5': 'line p.h:2'}, {str(r['i']): r['name'] for r in rows})
            functions = run('tree', '--json', '--bottom-up', written).json['root']['children']
            self.assertEqual({'main', 'put'}, {n['name'] for n in functions if not n['name'].startswith('main thread')})

    def test_flat_profiles(self):
        hpctoolkit.write(self.database, {'experiment.xml': b'''<HPCToolkitExperiment version="2.1"><Header n="t"/><SecFlatProfile i="0" n="t">
<SecHeader><MetricTable><Metric i="0" n="CYC" v="final" t="inclusive"/></MetricTable></SecHeader><SecFlatProfileData><M n="0" v="7"/>
<LM i="2" n="/bin/app"><M n="0" v="7"/><F i="3" n="m.c"><M n="0" v="7"/><P i="4" n="main" l="1"><M n="0" v="7"/><S i="5" l="2"><M n="0" v="7"/></S></P></F></LM>
</SecFlatProfileData></SecFlatProfile></HPCToolkitExperiment>'''})
        rows = self.sql('select c.path, v.value from value v join context c on c.id = v.context order by c.id')
        self.assertEqual(['', '/bin/app', '/bin/app->m.c', '/bin/app->m.c->main', '/bin/app->m.c->main->line m.c:2'], [r['path'] or '' for r in rows])
        self.assertEqual({7.0}, {r['value'] for r in rows})


if __name__ == '__main__':
    unittest.main()
