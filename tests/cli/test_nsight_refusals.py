"""Exports of Nsight Systems: what is refused, and how; that nothing of the input changes; what is said of odd ones, and of large ones."""
import hashlib
import json
import os
import sqlite3

from common import Case, main, run
from nsight_make import CURRENT, FLAVOURS, OLD, Export, RawText, global_tid

TOUCH = 'select (select count(*) from value) as v, (select sum(value) from value) as s, (select count(*) from event) as e'


def small(flavour=CURRENT):
    x = Export(flavour)
    x.region('main->solve', 0, 1000)
    x.launch('saxpy', (10, 30), (40, 90))
    x.osrt('read', 100, 120)
    return x


class Refusals(Case):
    def refused(self, path, *words, verb=('sql', '--json'), more=(TOUCH,)):
        result = run(*verb, path, *more)
        self.assertEqual((3, ''), (result.status, result.out), result.err)
        lines = result.err.splitlines()
        self.assertEqual(1, len(lines), result.err)
        self.assertTrue(lines[0].startswith(f'assay: {path}'), lines[0])
        for word in words:
            self.assertIn(word, lines[0])

    def export(self, name='a.sqlite', x=None, **how):
        path = self.path(name)
        (x or small()).write(path, **how)
        return path

    def test_what_is_no_database(self):
        self.refused(self.write('a.sqlite', 'this is no database\n' * 100), 'not a database, or encrypted')
        self.refused(self.write('b.sqlite', b''), 'empty')
        self.export('plain.sqlite')
        encrypted = bytearray(self.read('plain.sqlite'))
        encrypted[:16] = hashlib.sha256(b'salt').digest()[:16]
        self.refused(self.write('c.sqlite', bytes(encrypted)), 'not a database, or encrypted')

    def test_what_other_tools_must_export_first(self):
        for ending, words in (('.nsys-rep', ['nsys export --type sqlite']), ('.qdrep', ['nsys export --type sqlite']), ('.qdstrm', ['QdstrmImporter', 'nsys export --type sqlite']),
                              ('.ncu-rep', ['Nsight Compute']), ('.nsight-cuprof-report', ['Nsight Compute'])):
            with self.subTest(ending):
                self.refused(self.write('report' + ending, b'\0\1binary' * 50), *words)
                self.refused(self.write('REPORT' + ending.upper(), b'NVR\0' + b'\xff' * 60), *words)

    def test_a_database_under_another_name_is_read(self):
        path = self.export('renamed.nsys-rep')
        self.assertEqual('nsight', json.loads(run('info', '--json', path).out)['format'])

    def test_a_database_of_somebody_else(self):
        path = self.path('other.sqlite')
        db = sqlite3.connect(path)
        db.execute('create table t (a)')
        db.execute("create view StringIds as select 1 as id, 'x' as value")
        db.commit()
        db.close()
        self.refused(path, 'no export of Nsight Systems')
        own = self.path('own.sqlite')
        self.assertFine(run('convert', self.export('from.sqlite'), own))
        self.refused(own, 'no export of Nsight Systems')

    def test_damage(self):
        self.export('whole.sqlite', page_size=512)
        data = self.read('whole.sqlite')
        self.refused(self.write('a.sqlite', data[:len(data) // 3]), 'cut off', str(len(data)))
        self.refused(self.write('b.sqlite', data[:-1]), 'cut off')
        self.refused(self.write('c.sqlite', data[:99]), 'cut off')
        self.refused(self.write('d.sqlite', data[:16] + b'\0\7' + data[18:]), 'header is damaged')
        for page in range(1, len(data) // 512):
            damaged = data[:512 * page] + b'\xa5' * 512 + data[512 * (page + 1):]
            result = run('sql', '--json', self.write('page.sqlite', damaged), TOUCH)
            self.assertIn(result.status, (0, 3), f'page {page}')
            self.assertEqual('' if result.status else [], result.out if result.status else result.err.splitlines(), f'page {page}')

    def test_the_page_that_is_damaged_is_named(self):
        x = Export()
        for i in range(2000):
            x.call('cudaMalloc', 10 * i, 10 * i + 5)
        path = self.export('a.sqlite', x, page_size=512)
        db = sqlite3.connect(path)
        page, = db.execute("select pageno from dbstat where name = 'CUPTI_ACTIVITY_KIND_RUNTIME' and pagetype = 'leaf' order by pageno limit 1 offset 20").fetchone() if self.has_dbstat(db) else (None,)
        db.close()
        if page is None:
            self.skipTest('SQLite without dbstat')
        data = bytearray(self.read('a.sqlite'))
        data[512 * (page - 1)] = 0x77
        self.refused(self.write('b.sqlite', bytes(data)), f'byte {512 * (page - 1)}', f'page {page}', 'CUPTI_ACTIVITY_KIND_RUNTIME')

    @staticmethod
    def has_dbstat(db):
        try:
            db.execute('select 1 from dbstat limit 1')
            return True
        except sqlite3.Error:
            return False

    def test_journals_and_logs(self):
        path = self.export()
        self.write('a.sqlite-journal', b'\xd9\xd5\x05\xf9\x20\xa1\x63\xd7' + b'\0' * 504)
        self.refused(path, 'a.sqlite-journal', 'sqlite3')
        self.write('a.sqlite-journal', b'\0' * 512)
        self.assertFine(run('sql', path, TOUCH))
        logged = self.path('logged.sqlite')
        db = sqlite3.connect(logged, isolation_level=None)
        db.execute('pragma journal_mode = wal')
        db.execute('create table StringIds (id integer primary key, value text)')
        self.refused(logged, 'logged.sqlite-wal', 'wal_checkpoint')
        db.execute('pragma wal_checkpoint(truncate)')
        self.assertFine(run('info', logged))
        db.close()

    def test_nothing_changes(self):
        for wal in (False, True):
            folder = self.path(f'folder {wal}')
            os.mkdir(folder)
            path = os.path.join(folder, 'a.sqlite')
            small().write(path)
            if wal:
                db = sqlite3.connect(path)
                db.execute('pragma journal_mode = wal')
                db.close()
            os.chmod(path, 0o444)
            os.chmod(folder, 0o555)
            before = os.stat(path).st_mtime_ns, self.read(path)
            self.assertEqual(2 if wal else 1, before[1][18])
            os.utime(path, ns=(10**18, before[0]))  # so long ago that a usual access would be noted
            try:
                for command in (('info', '--json'), ('tree',), ('validate',), ('stat',)):
                    self.assertFine(run(*command, path))
                self.assertEqual(10**18, os.stat(path).st_atime_ns)
                self.assertEqual(['a.sqlite'], os.listdir(folder))
                self.assertEqual(before, (os.stat(path).st_mtime_ns, self.read(path)))
            finally:
                os.chmod(folder, 0o755)

    def test_standard_input(self):
        self.export()
        result = run('info', '--json', '-', stdin=self.read('a.sqlite'))
        self.assertFine(result)
        self.assertEqual('nsight', json.loads(result.out)['format'])

    def problems(self, x, name='odd.sqlite'):
        info = json.loads(run('info', '--json', self.export(name, x)).out)
        return {p['rule']: (p['severity'], p['message']) for p in info['problems']}

    def test_odd_data_is_told_once_each(self):
        x = Export()
        x.call('cudaMalloc', 100, 50)
        x.call('cudaMalloc', 200, 150)
        x.call(4711, 300, 310)
        x.call('cudaMalloc', 'soon', 50)
        x.kernel('k', 10, 20, correlation=99)
        x.kernel('k', 10, 20, correlation=0)
        x.call('cudaLaunchKernel', 400, 410, correlation=50, thread=global_tid(1000, 1))
        x.call('cudaLaunchKernel', 400, 410, correlation=50, thread=global_tid(2000, 1))
        x.kernel('k', 420, 430, correlation=50, process=None)
        x.range('open', 5, None)
        x.row('NVTX_EVENTS', start=1, end=2, eventType=59, globalTid=global_tid(), domainId=0)
        found = self.problems(x)
        self.assertEqual({'negative-duration': 'warning', 'missing-string': 'warning', 'wrong-type': 'warning', 'ambiguous-correlation': 'warning', 'no-call': 'note', 'unfinished-range': 'note',
                          'unnamed-range': 'note'}, {rule: severity for rule, (severity, _) in found.items()})
        self.assertIn('2 activities end before their start', found['negative-duration'][1])
        self.assertIn('1 name is not in StringIds', found['missing-string'][1])
        self.assertIn('1 row of table CUPTI_ACTIVITY_KIND_RUNTIME', found['wrong-type'][1])
        self.assertIn('1 activity', found['no-call'][1])
        events = json.loads(run('sql', '--json', self.path('odd.sqlite'), "select name, start_raw, end_raw from event where kind = 'api' order by id").out)
        self.assertEqual([('cudaMalloc', 100, 50), ('cudaMalloc', 200, 150), ('[string 4711]', 300, 310)], [tuple(e.values()) for e in events[:3]])

    def test_a_good_export_has_no_problems(self):
        for flavour in FLAVOURS:
            self.assertEqual({}, self.problems(small(flavour), flavour + '.sqlite'), flavour)
            self.assertEqual(0, run('validate', self.path(flavour + '.sqlite')).status)

    def test_what_an_export_says_of_itself(self):
        x = small()
        x.row('TARGET_INFO_SESSION_START_TIME', utcEpochNs=1653929715500000000)
        x.row('TARGET_INFO_SYSTEM_ENV', name='Hostname', value='node7')
        x.row('TARGET_INFO_SYSTEM_ENV', name='SupportsMPI', value='0')
        x.row('ANALYSIS_DETAILS', duration=2500000000)
        x.row('EXPORT_META_DATA', name='EXPORT_USER', value=RawText(b'Gei\xe1'))
        path = self.export('a.sqlite', x)
        info = json.loads(run('info', '--json', path).out)
        self.assertEqual(('nsight', '3.16.0', 1), (info['format'], info['format_version'], info['runs']))
        run_row, = json.loads(run('sql', '--json', path, 'select * from run').out)
        self.assertEqual((1653929715.5, path), (run_row['start_time'], run_row['source']))
        attributes = {(a['owner'], a['key']): a['value'] for a in json.loads(run('sql', '--json', path, "select owner, key, value from attribute where owner in ('dataset', 'run')").out)}
        self.assertEqual('node7', attributes['run', 'Hostname'])
        self.assertEqual(2.5, attributes['run', 'capture_duration'])
        self.assertEqual('Gei\ufffd', attributes['dataset', 'EXPORT_USER'])
        self.assertNotIn(('run', 'SupportsMPI'), attributes)
        self.assertIsNone(json.loads(run('info', '--json', self.export('old.sqlite', small(OLD))).out)['format_version'])

    def test_large_exports_are_looked_at(self):
        x = Export()
        x.call('cudaMalloc', 1, 2)
        x.sql('with recursive n(i) as (values(2) union all select i + 1 from n where i < 1000000) '
              f'insert into CUPTI_ACTIVITY_KIND_RUNTIME select i * 10, i * 10 + 5, 0, {global_tid()}, i, 1, 0, null from n')
        path = self.export('large.sqlite', x)
        info = json.loads(run('info', '--json', path).out)
        self.assertEqual({'api': 1000000}, info['rows'])
        self.assertEqual([None] * 4, [info[k] for k in ('contexts', 'locations', 'values', 'attributes')])
        self.assertEqual(1000000, info['events'])
        self.assertEqual(['time', 'visits'], [m['name'] for m in info['metrics']])
        card = run('info', path).out
        self.assertIn('1,000,000  api (1,000,000)', card)
        self.assertIn('info --full', card)
        full = json.loads(run('info', '--json', '--full', path).out)
        self.assertEqual((1000000, 1), (full['events'], full['locations']))
        self.assertNotIn('rows', full)
        self.assertEqual(['time', 'visits'], [m['name'] for m in full['metrics']])


if __name__ == '__main__':
    main()
