"""The formats hpctoolkit-4 and hpctoolkit-4-draft: what meta.db says, and what happens where it is damaged. Expected numbers follow by hand from hpctoolkit.small()."""
import os
import shutil
import struct

import hpctoolkit
from common import Case, main, run

TIME = 'CPUTIME (sec)'
FILES = ('meta.db', 'profile.db', 'cct.db', 'trace.db')


def u64(data, at):
    return struct.unpack_from('<Q', data, at)[0]


class Databases(Case):
    def make(self, name='db', database=None, **options):
        os.makedirs(self.path(name))
        hpctoolkit.write_4(self.path(name), database or hpctoolkit.small(), **options)
        return self.path(name)

    def sql(self, path, statement):
        result = run('sql', '--json', path, statement)
        self.assertEqual(0, result.status, result)
        return result.json

    def info(self, path):
        result = run('info', '--json', path)
        self.assertEqual(0, result.status, result)
        return result.json

    def refused(self, path, *words):
        for verb in (('info', path), ('sql', '--json', path, 'select count(*) from context')):
            result = run(*verb)
            self.assertEqual((3, ''), (result.status, result.out), result)
            self.assertRegex(result.err, r'\Aassay: [^\n]+\n\Z')
            for word in words:
                self.assertIn(word, result.err)
        self.assertIn(run('validate', path).status, (1, 3))

    # ---- what is in it -------------------------------------------------------------------------------------------------

    def test_info(self):
        info = self.info(self.make())
        self.assertEqual(('hpctoolkit-4', '4.0', 1, 3), tuple(info[k] for k in ('format', 'format_version', 'runs', 'locations')))
        self.assertEqual(12, info['events'])
        self.assertEqual([(TIME, k) for k in ('point', 'exclusive', 'lexical', 'inclusive')], [(m['name'], m['kind']) for m in info['metrics']][:4])
        self.assertEqual([], info['problems'])

    def test_contexts(self):
        path = self.make()
        rows = {r['source_id']: r for r in self.sql(path, 'select c.*, r.kind, r.file, r.line_begin, r.module from context c left join region r on r.id = c.region')}
        self.assertEqual({str(i) for i in range(18)} | {'40'}, set(rows))
        names = {'0': '<root>', '1': '<program root>', '2': 'main', '3': 'line ./src/main.c:7', '4': 'insn app+0x320', '6': 'loop at ./src/solve.c:23', '10': 'square', '16': 'exp',
                 '17': 'insn libmath.so+0x1234', '40': '<context 40>'}
        self.assertEqual(names, {k: rows[k]['name'] for k in names})
        self.assertEqual(('function', './src/main.c', 5, '/opt/app/bin/app'), tuple(rows['2'][k] for k in ('kind', 'file', 'line_begin', 'module')))
        self.assertEqual((None, None), (rows['40']['parent'], rows['40']['region']))
        self.assertEqual(rows['5']['region'], rows['13']['region'])     # the recursion
        self.assertEqual('<program root>->main->line ./src/main.c:7', rows['3']['path'])
        self.assertEqual(3, rows['3']['depth'])

    def test_stored_pairs(self):
        path = self.make()
        nodes = {r['source_id']: (r['inclusive'], r['exclusive']) for r in self.sql(path, f"select c.source_id, n.inclusive, n.exclusive from node n join metric m on m.id = n.metric "
                                                                                           f"join context c on c.id = n.context where m.name = '{TIME}' and m.kind = 'inclusive'")}
        self.assertEqual((9.125, 0.75), nodes['2'])         # both ranks; the line of main alone
        self.assertEqual((6.375, 5.25), nodes['5'])         # solve: its loops are its own, the inlined function and the recursion are not
        self.assertEqual((5.25, 0.25), nodes['6'])          # the outer loop without the inner one
        self.assertEqual((5.0, 5.0), nodes['7'])

    def test_names(self):
        path = self.make()
        attributes = {(r['owner'], r['key'], r['value']) for r in self.sql(path, "select owner, key, value from attribute where owner = 'dataset'")}
        self.assertEqual({('dataset', 'title', 'small'), ('dataset', 'description', 'a small database'), ('dataset', 'source', './src/main.c'), ('dataset', 'source', './src/solve.c'),
                          ('dataset', 'source', './src/square.h')}, attributes)
        self.assertEqual([{'unit': 'sec'}, {'unit': None}], self.sql(path, "select unit from metric where kind = 'inclusive' order by id"))

    def test_inlined_and_calls_are_told_apart(self):
        """Relations that follow from the kind of a context are no attributes."""
        rows = self.sql(self.make(), "select key, count(*) as n from attribute where owner = 'context' group by key")
        self.assertEqual([{'key': 'relation', 'n': 4}], rows)           # instructions that are nested instead of called: 4, 12, 15, 17

    def test_drafts(self):
        final = self.make('final')
        first, second = self.make('first', entry_size=40, draft_metrics=True), self.make('second', entry_size=40)
        for path in (first, second):
            self.assertEqual(('hpctoolkit-4-draft', '4.0'), tuple(self.info(path)[k] for k in ('format', 'format_version')))
        values = 'select c.source_id, m.name, m.kind, l.source_id as location, v.value from value v join context c on c.id = v.context join metric m on m.id = v.metric join location l on l.id = v.location'
        keyed = [sorted(map(str, self.sql(path, values))) for path in (final, first, second)]
        self.assertEqual(keyed[0], keyed[1])
        self.assertEqual(keyed[0], keyed[2])
        self.assertEqual('<program root>->main', self.sql(first, "select path from context where source_id = '2'")[0]['path'])

    def test_samples_where_nothing_was_measured(self):
        """Without cct.db, profile.db names the contexts that have values only."""
        database = hpctoolkit.small()
        database.roots[0].children.append(hpctoolkit.Node(60, 'function', 'idle', None, 0, '/opt/app/bin/app', 0x900))
        database.profiles[0].trace.append((1700000000000000000 + 10 ** 9, 60))
        path = self.make(database=database, cct=False)
        self.assertEqual([{'source_id': '60', 'name': 'idle'}], self.sql(path, 'select c.source_id, c.name from event e join context c on c.id = e.context order by e.start desc limit 1'))

    # ---- how it is named -----------------------------------------------------------------------------------------------

    def test_any_of_its_files(self):
        path = self.make()
        expected = self.info(path)
        for name in FILES:
            info = self.info(os.path.join(path, name))
            self.assertEqual([expected[k] for k in ('format', 'values', 'events', 'contexts', 'bytes')], [info[k] for k in ('format', 'values', 'events', 'contexts', 'bytes')])
        inside = run('info', '--json', '.', cwd=path)
        self.assertEqual(expected['values'], inside.json['values'])
        self.assertEqual(expected['values'], run('info', '--json', 'meta.db', cwd=path).json['values'])

    def test_not_from_a_pipe(self):
        path = self.make()
        result = run('info', '-', stdin=self.read(os.path.join(path, 'meta.db')), cwd=path)
        self.assertEqual(3, result.status, result)
        self.assertIn('is a directory', result.err)

    # ---- damage --------------------------------------------------------------------------------------------------------

    def damaged(self, name, data):
        """A database whose meta.db, or another file, is this; None: missing."""
        path = self.path('damaged')
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.path('db'), path)
        os.remove(os.path.join(path, name))
        if data is not None:
            with open(os.path.join(path, name), 'wb') as f:
                f.write(data)
        return path

    def test_versions(self):
        path = self.make()
        meta = bytearray(self.read(os.path.join(path, 'meta.db')))
        meta[15] = 7
        newer = self.damaged('meta.db', bytes(meta))
        info = self.info(newer)
        self.assertEqual('4.7', info['format_version'])
        self.assertEqual([('note', 'unknown-version')], [(p['severity'], p['rule']) for p in info['problems']])
        meta[14] = 5
        self.refused(self.damaged('meta.db', bytes(meta)), 'meta.db', 'version 5.7', 'version 4 is known')

    def test_another_generation_mixed_in(self):
        path, other = self.make(), self.path('other')
        os.makedirs(other)
        hpctoolkit.write_2021(other, hpctoolkit.small())
        self.refused(self.damaged('profile.db', self.read(os.path.join(other, 'profile.db'))), 'profile.db', 'another generation')
        self.assertEqual('hpctoolkit-4', self.info(path)['format'])

    def test_missing(self):
        self.make()
        self.refused(self.damaged('meta.db', None), 'meta.db')
        self.refused(self.damaged('profile.db', None), 'profile.db')
        for name, events in (('cct.db', 12), ('trace.db', 0)):
            path = self.damaged(name, None)
            info = self.info(path)
            self.assertEqual(self.info(self.path('db'))['values'], info['values'])
            self.assertEqual(events, info['events'])

    def test_damaged(self):
        path = self.make()
        meta = self.read(os.path.join(path, 'meta.db'))
        far, metrics, contexts = len(meta) + 4096, u64(meta, 0x38), u64(meta, 0x48)
        entry = u64(meta, contexts)
        child, size = u64(meta, entry + 8), u64(meta, entry)

        def put(form, at, *values):
            data = bytearray(meta)
            struct.pack_into('<' + form, data, at, *values)
            return bytes(data)
        for data, *words in ((meta[:len(meta) // 2], 'cut off'), (meta[:-8], 'cut off'), (b'', 'HPCTOOLKITmeta'), (b'X' + meta[1:], 'HPCTOOLKITmeta'), (put('Q', 0x48, far), 'Context'),
                             (put('Q', metrics, far), 'metrics'), (put('I', metrics + 8, 2 ** 32 - 1), '4294967295 metrics'), (put('B', metrics + 12, 0), 'metrics of 0 bytes'),
                             (put('Q', u64(meta, metrics), far), 'text'), (put('Q', entry + 8, far), 'children'), (put('Q', entry, 2 ** 63), 'children'),
                             (put('QQ', child, size, child), 'context 2')):
            with self.subTest(words):
                self.refused(self.damaged('meta.db', data), 'meta.db', *words)

    def test_nothing_is_written_beside_it(self):
        path = self.make()
        before = sorted(os.listdir(path))
        os.chmod(path, 0o555)
        self.addCleanup(os.chmod, path, 0o755)
        self.info(path)
        self.sql(path, 'select count(*) from value')
        self.assertEqual(before, sorted(os.listdir(path)))


if __name__ == '__main__':
    main()
