"""Databases made to take more time or memory than their size allows: each is small, and would take hours or all memory if counts in it were multiplied. (run() waits a minute.)"""
import os
import struct

import hpctoolkit
from common import Case, main, run

METRIC = '<MetricTable><Metric i="1" n="T (I)" v="final" t="inclusive"/></MetricTable>'


class Hostile(Case):
    def setUp(self):
        super().setUp()
        self.db = self.path('db')

    def put(self, name, data):
        hpctoolkit.write(self.db, {name: data if isinstance(data, bytes) else data.encode()})

    def document(self, head, tree):
        """experiment.xml 2.2, all on one line."""
        self.put('experiment.xml', '<HPCToolkitExperiment version="2.2"><Header n="x"/><SecCallPathProfile i="0" n="x"><SecHeader>' + head + '</SecHeader><SecCallPathProfileData>'
                 + tree + '</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>\n')

    def sql(self, statement):
        result = run('sql', '--csv', self.db, statement)
        self.assertEqual(0, result.status, result)
        return [line.split(',') for line in result.out.splitlines()[1:]]

    def problems(self):
        result = run('info', '--json', self.db)
        self.assertEqual(0, result.status, result)
        return {(p['severity'], p['rule']) for p in result.json['problems']}

    def yaml(self, text):
        hpctoolkit.write_4(self.db, hpctoolkit.small())
        self.put('metrics/default.yaml', 'version: 0\n' + text)
        return self.problems()


class Yaml(Hostile):
    def test_sums_of_aliases_are_no_exponential_tree(self):
        levels = ''.join(f'- &a{k} {{name: m{k}, variants: {{Sum: {{formula: sum}}}}, children: [{", ".join([f"*a{k - 1}"] * 50)}]}}\n' for k in range(1, 20))
        self.assertIn(('warning', 'yaml-limit'), self.yaml('all:\n- &a0 {name: leaf}\n' + levels + 'roots: [*a19]\n'))

    def test_a_wide_mapping_is_not_searched_for_each_alias(self):
        pairs = ', '.join(f'k{i}: 1' for i in range(50000))
        self.assertEqual({('warning', 'yaml-limit')}, self.yaml(f'big: &a {{{pairs}}}\nroots: [{", ".join(["*a"] * 100000)}]\n'))

    def test_merges_of_many_mappings(self):
        pairs, merged = ', '.join(f'k{i}: 1' for i in range(50000)), ', '.join(['*a'] * 50000)
        self.assertEqual(set(), self.yaml(f'big: &a {{{pairs}}}\nm: &b {{<<: [{merged}]}}\nroots: [{", ".join(["*b"] * 1000)}]\n'))

    def test_a_pipe_is_not_waited_for(self):
        hpctoolkit.write_4(self.db, hpctoolkit.small())
        os.makedirs(os.path.join(self.db, 'metrics'))
        os.mkfifo(os.path.join(self.db, 'metrics', 'default.yaml'))
        self.assertEqual(set(), self.problems())
        os.symlink('nowhere', os.path.join(self.db, 'metrics', 'other.yaml'))
        self.assertEqual({('warning', 'metrics-file')}, self.problems())


class Documents(Hostile):
    def test_many_warnings_on_one_line(self):
        self.document(METRIC, '<PF i="2" n="f">' + '<X/>' * 500000 + '</PF>')
        self.assertEqual({('warning', 'unknown-element')}, self.problems())
        self.document(METRIC, '<PF i="2" n="f">' + '<S i="x" l="y"/>' * 300000 + '</PF>')
        self.assertEqual(1, run('validate', self.db).status)

    def test_one_long_path_in_many_names(self):
        lines = ''.join(f'<S i="{i}" l="{i}"/>' for i in range(3, 100000))
        self.document(METRIC + '<FileTable><File i="5" n="' + 'x' * 1000000 + '"/></FileTable>', f'<PF i="2" n="f" f="5">{lines}</PF>')
        result = run('info', self.db)
        self.assertEqual(3, result.status)
        self.assertRegex(result.err, r'^assay: .*experiment\.xml: paths of source files .* too long.*\n$')

    def test_statistics_of_one_metric_have_an_end(self):
        hpctoolkit.write_2021(self.db, hpctoolkit.small(), dense=True)
        path = os.path.join(self.db, 'experiment.xml')
        with open(path) as f:
            text = f.read()
        total, count = 5, 2  # ids of the sum and the number of threads of the first inclusive metric
        many = ''.join(f'<Metric i="{100000 + i}" n="CPUTIME (sec):M{i} (I)" v="derived-incr" t="inclusive"><MetricFormula t="view" frm="${total} / ${count} + {i}"/></Metric>'
                       for i in range(2000))
        self.put('experiment.xml', text.replace('<MetricTable>\n', '<MetricTable>\n' + many))
        names = [name for name, in self.sql("select distinct statistic from summary where statistic like 'm%' and statistic not in ('min', 'max', 'mean')")]
        self.assertIn('m0', names)
        self.assertLessEqual(len(names), 16)

    def test_long_numbers_in_formulas(self):
        long = '1' * 60000
        metrics = ''.join(f'<Metric i="{i}" n="D{i} (I)" v="derived" t="inclusive"><MetricFormula t="finalize" frm="$1*0.{long}"/></Metric>' for i in range(2, 40))
        self.document(METRIC.replace('</MetricTable>', metrics + '</MetricTable>'), '<PF i="2" n="f"><M n="1" v="1"/></PF>')
        # 0.111… is 1/9, to the last bit
        self.assertEqual({1 / 9}, {float(v) for v, in self.sql("select n.inclusive from node n join metric m on m.id = n.metric where m.name like 'D%'")})


class Binary(Hostile):
    def test_profiles_that_share_one_tuple(self):
        hpctoolkit.write_4(self.db, hpctoolkit.small())
        out, n = hpctoolkit.Pool(hpctoolkit.head_4(b'prof', 2)), 5000
        elements = out.add(struct.pack('<HHI', 64, 0, 0) + b''.join(struct.pack('<BBHIQ', 1, 0, 0, i, i) for i in range(64)))
        at = out.add(struct.pack('<QQIIQQII', 0, 0, 0, 0, 0, elements, 0, 0) * n)
        out.section(0, out.add(struct.pack('<QIB', at, n, 48)), 13)
        out.section(1, at, 0)
        self.put('profile.db', out.done(b'_prof.db'))
        result = run('info', self.db)
        self.assertEqual(3, result.status)
        self.assertIn('its id tuple is that of many others', result.err)

    def test_names_inside_a_long_one(self):
        """2000 functions of meta.db whose names are the ends of one of a million bytes."""
        n = 2000
        functions = [hpctoolkit.Node(3 + i, 'function', 'f' * 1000000 if i == 0 else f'g{i}', './src/a.c', i + 1, '/bin/app', i) for i in range(n)]
        db = hpctoolkit.Database(roots=[hpctoolkit.Node(1, 'entry', '<program root>', children=functions)], profiles=[hpctoolkit.Profile([('RANK', 0, 0)], {(3, 'CPUTIME (sec)'): 1})])
        hpctoolkit.write_4(self.db, db)
        meta = bytearray(self.read('db/meta.db'))
        table, = struct.unpack_from('<Q', meta, struct.unpack_from('<Q', meta, 0x10 + 16 * 7 + 8)[0])
        long, = struct.unpack_from('<Q', meta, table)  # the first in order of their names
        for i in range(1, n):
            struct.pack_into('<Q', meta, table + 40 * i, long + i)
        self.put('meta.db', bytes(meta))
        self.assertFails(run('info', self.db), 3, 'meta.db', 'texts lie one inside the other')

    def test_a_path_longer_than_any(self):
        db = hpctoolkit.small()
        for node in db.nodes():
            node.module = '/' + 'x' * 70000 if node.module else None
        hpctoolkit.write_4(self.db, db)
        self.assertFails(run('info', self.db), 3, 'meta.db', 'a path of more than')

    def test_many_small_pieces_beside_a_large_one(self):
        """experiment.mdb: 60000 pieces with one node, one with 300000; each node of no context is looked for in those that have it."""
        self.document(METRIC + '<MetricDBTable><MetricDB i="1" n="T (I)" db-id="0"/></MetricDBTable>', '<PF i="2" n="f"><M n="1" v="1"/></PF>')
        piece = lambda nodes: b'HPCPROF-metricdb__00.10b' + struct.pack('>II', nodes, 1) + bytes(8 * nodes)
        pieces = [piece(300000)] + [piece(1)] * 60000
        at = 8 + 16 * len(pieces)
        entries = []
        for i, data in enumerate(pieces):
            entries.append(struct.pack('>IIQ', 0, i, at))
            at += len(data)
        self.put('experiment-1.mdb', struct.pack('>II', 1, len(pieces)) + b''.join(entries) + b''.join(pieces) + bytes.fromhex('ffffffffdeadf00d'))
        self.assertEqual(set(), self.problems())
        self.assertEqual([['60001']], self.sql('select count(*) from location where leaf'))

    def test_rows_of_one_line_are_found(self):
        """With many lines each row is found by search; by id and by location they are those that a walk over all finds."""
        db = hpctoolkit.small()
        db.profiles = [hpctoolkit.Profile([('RANK', i, i)], {(3, 'CPUTIME (sec)'): 1}, [(1700000000000000000 + 1000 * i + k, 3) for k in range(i % 4)]) for i in range(200)]
        hpctoolkit.write_4(self.db, db)
        total = sum(i % 4 for i in range(200))
        rows = self.sql('select id, location, start_raw from event')
        self.assertEqual(total, len(rows))
        self.assertEqual(rows, self.sql('with recursive n(i) as (select 0 union all select i + 1 from n where i < 1000) select e.id, location, start_raw from n join event e on e.id = n.i'))
        self.assertEqual(sorted(rows), sorted(self.sql('select e.id, e.location, e.start_raw from location l cross join event e on e.location = l.id')))
        self.assertEqual(sorted(rows), sorted(self.sql('select e.id, e.location, e.start_raw from location l cross join event e on e.location = l.id and e.run = 0')))


if __name__ == '__main__':
    main()
