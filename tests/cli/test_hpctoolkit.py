"""HPCToolkit databases of the forms of 2021 and 4 through the command: all values, by context and by location, whatever the byte order, version or layout; what is missing, and what is damaged."""
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hpctoolkit
from common import Case, main, run

DB = hpctoolkit.small()
KIND_2021 = {'execution': 'inclusive', 'function': 'exclusive'}
KIND_4 = {'point': 'point', 'function': 'exclusive', 'lex_aware': 'lexical', 'execution': 'inclusive'}
VALUES = ('select l.source_id as profile, c.source_id as context, m.name as metric, m.kind as kind, v.value as value from value v join location l on l.id = v.location '
          'join context c on c.id = v.context join metric m on m.id = v.metric')
# How the same database may look: format, and the way to write it.
SHAPES = {
    'as real files': ('hpctoolkit-2021', lambda d: hpctoolkit.write_2021(d, DB)),
    'shifted metric ids': ('hpctoolkit-2021', lambda d: hpctoolkit.write_2021(d, DB, dense=False)),
    'version 4.0': ('hpctoolkit-2021', lambda d: hpctoolkit.write_2021(d, DB, version=(4, 0))),
    'little-endian': ('hpctoolkit-2021', lambda d: hpctoolkit.write_2021(d, DB, order='<', version=(4, 0))),
    'sections elsewhere': ('hpctoolkit-2021', lambda d: hpctoolkit.write_2021(d, DB, first=1001)),
    'a footer in trace.db': ('hpctoolkit-2021', lambda d: hpctoolkit.write_2021(d, DB, trace_footer=b'tfBDCART')),
    'released': ('hpctoolkit-4', lambda d: hpctoolkit.write_4(d, DB)),
    'entries of 56 bytes': ('hpctoolkit-4', lambda d: hpctoolkit.write_4(d, DB, entry_size=56)),
    'entries of 40 bytes': ('hpctoolkit-4-draft', lambda d: hpctoolkit.write_4(d, DB, entry_size=40)),
    'metrics of 24 bytes': ('hpctoolkit-4-draft', lambda d: hpctoolkit.write_4(d, DB, entry_size=40, draft_metrics=True)),
}
FORMS = {'2021': hpctoolkit.write_2021, '4': hpctoolkit.write_4}


def wanted(kinds):
    return {(str(i + 1), str(c), m, kinds[s]): v for i, p in enumerate(DB.profiles) for (c, m, s), v in DB.stored(p).items() if s in kinds}


def kinds_of(name):
    return KIND_2021 if name == 'hpctoolkit-2021' or name == '2021' else KIND_4


class Databases(Case):
    def sql(self, path, query):
        result = run('sql', '--json', path, query)
        self.assertEqual(0, result.status, result)
        return result.json

    def values(self, path, where=''):
        rows = self.sql(path, VALUES + where)
        found = {(r['profile'], r['context'], r['metric'], r['kind']): r['value'] for r in rows}
        self.assertEqual(len(rows), len(found))
        return found

    def problems(self, path):
        result = run('info', '--json', path)
        self.assertEqual(0, result.status, result)
        return [(p['severity'], p['rule']) for p in result.json['problems']]

    def change(self, name, at, data):
        """Puts bytes into a file of the database 'db'."""
        path = self.path('db/' + name)
        with open(path, 'r+b') as f:
            f.seek(at)
            f.write(data)

    def test_every_shape(self):
        for shape, (name, write) in SHAPES.items():
            with self.subTest(shape):
                path = self.path(shape)
                write(path)
                info = run('info', '--json', path)
                self.assertFine(info)
                want = wanted(kinds_of(name))
                self.assertEqual((name, [], len(want), 12, 3), tuple(info.json[k] for k in ('format', 'problems', 'values', 'events', 'locations')))
                self.assertEqual(want, self.values(path))
                some = {k: v for k, v in want.items() if k[1] == '8'}
                self.assertEqual(some, self.values(path, " where v.context = (select id from context where source_id = '8')"))
                some = {k: v for k, v in want.items() if k[0] == '2'}
                self.assertEqual(some, self.values(path, " where v.location = (select id from location where source_id = '2')"))

    def test_summaries(self):
        for form, write in FORMS.items():
            write(self.path(form), DB)
            rows = self.sql(self.path(form), "select c.source_id as c, m.name as m, m.kind as k, s.statistic as s, s.value as v from summary s join context c on c.id = s.context "
                                             "join metric m on m.id = s.metric where c.source_id = '8' and m.kind = 'inclusive' and m.name = 'CPUTIME (sec)'")
            found = {r['s']: r['v'] for r in rows}
            want = {'count': 2, 'sum': 5, 'sumsq': 13, 'min': 2, 'max': 3}  # 2 seconds in the first profile, 3 in the second
            self.assertEqual(want, {k: found.get(k) for k in want})

    def test_locations_and_events(self):
        for form, write in FORMS.items():
            write(self.path(form), DB)
            rows = self.sql(self.path(form), "select l.source_id as s, l.rank as r, a.value as t from location l join attribute a on a.owner = 'location' and a.owner_id = l.id "
                                             "where a.key = 'id_tuple' and l.leaf order by l.id")
            self.assertEqual([('1', 0, 'NODE:0:713047168 RANK:0:0 THREAD:0:0'), ('2', 1, 'NODE:0:713047168 RANK:1:1 THREAD:0:0'),
                              ('3', 1, 'NODE:0:713047168 RANK:1:1 GPUDEVICE:0:0 GPUCONTEXT:0:0 GPUSTREAM:1:1')], [(r['s'], r['r'], r['t']) for r in rows])
            rows = self.sql(self.path(form), "select e.start_raw as t, e.start as s, c.source_id as c from event e join context c on c.id = e.context "
                                             "join location l on l.id = e.location where l.source_id = '2' order by e.start_raw")
            self.assertEqual([(t, c) for t, c in DB.profiles[1].trace], [(r['t'], int(r['c'])) for r in rows])
            self.assertAlmostEqual(0.0005, rows[0]['s'])

    def test_any_file_names_the_database(self):
        for form, write in FORMS.items():
            write(self.path(form), DB)
            for name in os.listdir(self.path(form)):
                result = run('info', '--json', os.path.join(self.path(form), name))
                self.assertFine(result)
                self.assertEqual((f'hpctoolkit-{form}', len(wanted(kinds_of(form)))), (result.json['format'], result.json['values']))
        result = run('info', '--json', 'profile.db', cwd=self.path('4'))
        self.assertFine(result)
        self.assertEqual('hpctoolkit-4', result.json['format'])

    def test_standard_input_is_no_database(self):
        hpctoolkit.write_4(self.path('db'), DB)
        for name in ('meta.db', 'profile.db'):
            self.assertFails(run('info', '--json', '-', stdin=self.read('db/' + name), cwd=self.path('db')), 3, 'directory')

    def test_nothing_is_written_into_it(self):
        for form, write in FORMS.items():
            write(self.path(form), DB)
            before = {name: os.stat(os.path.join(self.path(form), name)).st_mtime_ns for name in sorted(os.listdir(self.path(form)))}
            os.chmod(self.path(form), 0o555)
            try:
                self.assertEqual(wanted(kinds_of(form)), self.values(self.path(form)))
            finally:
                os.chmod(self.path(form), 0o755)
            self.assertEqual(before, {name: os.stat(os.path.join(self.path(form), name)).st_mtime_ns for name in sorted(os.listdir(self.path(form)))})

    def test_cct_missing_empty_or_damaged(self):
        for form, write in FORMS.items():
            want = wanted(kinds_of(form))
            path = self.path('db')

            def check(rule):
                self.assertEqual([('warning', rule)], self.problems(path))
                self.assertEqual(want, self.values(path))
                self.assertEqual(want, {**self.values(path, " where c.source_id < '4'"), **self.values(path, " where c.source_id >= '4'")})
            write(path, DB, cct=False)
            check('cct-missing')
            write(path, DB)
            self.change('cct.db', 0, b'X')
            check('cct-damaged')
            write(path, DB)
            os.truncate(path + '/cct.db', os.path.getsize(path + '/cct.db') - 1)
            check('cct-damaged')
            shutil.rmtree(path)
        hpctoolkit.write_2021(path, DB, zeroed=True)
        self.assertEqual([('warning', 'cct-empty')], self.problems(path))
        self.assertEqual(wanted(KIND_2021), self.values(path))

    def test_trace_missing_or_damaged(self):
        for form, write in FORMS.items():
            path = self.path('db')
            write(path, DB, trace=False)
            self.assertEqual([], self.problems(path))
            self.assertEqual([{'n': 0}], self.sql(path, 'select count(*) as n from event'))
            write(path, DB)
            first = 128 + 14 if form == '2021' else struct.unpack_from('<Q', self.read('db/trace.db'), struct.unpack_from('<Q', self.read('db/trace.db'), 0x18)[0])[0] + 16
            self.change('trace.db', first, b'\x7f' * 8)  # the end of the first line
            self.assertEqual([('warning', 'trace-damaged')], self.problems(path))
            self.assertEqual([{'n': 4}], self.sql(path, 'select count(*) as n from event'))
            write(path, DB)
            self.change('trace.db', 4, b'?')
            self.assertEqual([('warning', 'trace-damaged')], self.problems(path))
            self.assertEqual([{'n': 0}], self.sql(path, 'select count(*) as n from event'))
            self.assertEqual(wanted(kinds_of(form)), self.values(path))
            shutil.rmtree(path)

    def test_profile_damaged(self):
        for form, write in FORMS.items():
            for what, damage in {'empty': lambda b: b'', 'half': lambda b: b[:len(b) // 2], 'no footer': lambda b: b[:-8], 'magic': lambda b: b'X' + b[1:],
                                 'major': lambda b: b[:16] + b'\2' + b[17:] if form == '2021' else b[:14] + b'\5' + b[15:]}.items():
                with self.subTest(form=form, what=what):
                    write(self.path('db'), DB)
                    self.write('db/profile.db', damage(self.read('db/profile.db')))
                    self.assertFails(run('sql', '--json', self.path('db'), 'select count(*) from value'), 3, 'profile.db')
                    self.assertFails(run('convert', self.path('db'), self.path('out.sqlite')), 3, 'profile.db')
                    self.assertFalse(os.path.exists(self.path('out.sqlite')))
            os.remove(self.path('db/profile.db'))
            self.assertFails(run('info', '--json', self.path('db')), 3, 'profile.db')
            shutil.rmtree(self.path('db'))

    def test_files_of_another_generation(self):
        hpctoolkit.write_2021(self.path('a'), DB)
        hpctoolkit.write_4(self.path('b'), DB)
        shutil.copy(self.path('a/profile.db'), self.path('b/profile.db'))
        self.assertFails(run('info', '--json', self.path('b')), 3, 'profile.db', 'generation')
        hpctoolkit.write_4(self.path('b'), DB)
        shutil.copy(self.path('a/cct.db'), self.path('b/cct.db'))
        self.assertEqual([('warning', 'cct-damaged')], self.problems(self.path('b')))
        self.assertEqual(wanted(KIND_4), self.values(self.path('b')))

    def test_versions_from_the_future(self):
        hpctoolkit.write_4(self.path('db'), DB, version=(4, 7))
        self.assertIn(('note', 'unknown-version'), self.problems(self.path('db')))
        self.assertEqual(wanted(KIND_4), self.values(self.path('db')))

    def test_a_pipe_in_place_of_a_file(self):
        hpctoolkit.write_4(self.path('db'), DB)
        os.remove(self.path('db/profile.db'))
        os.mkfifo(self.path('db/profile.db'))
        self.assertFails(run('info', '--json', self.path('db')), 3, 'profile.db')


if __name__ == '__main__':
    main()
