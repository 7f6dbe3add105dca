"""Perun stores: what they hold, in which order, and what is damaged in them."""
import hashlib
import os
import re
import struct
import unittest
import zlib

from common import Case, run, run_on_terminal
from perun_store import Store, object_content, profile

A, B = 'a' * 40, 'b' * 40


class StoreCase(Case):
    def store(self):
        store = Store(self.folder)
        self.hashes = store.commit(B, [('two.perf', 2000, profile('g', (5, 6), workload='large')), ('one.perf', 1000, profile('f', (1, 2, 3), postprocessors=('clusterizer', 'normalizer')))])
        self.hashes += store.commit(A, [('three.perf', 3000, profile('h', (7,), kind='time', collector='time'))], version=1)
        store.pending([('now.perf', 4000, profile('p', (9, 9)))])
        return store

    def sql(self, path, statement, *more):
        result = run('sql', '--json', *more, path, statement)
        self.assertEqual(result.status, 0, result)
        return result.json

    def problems(self, path):
        return [(p['severity'], p['rule'], p['file'], p['offset'], p['message']) for p in self.sql(path, 'select * from problem')]


class Sound(StoreCase):
    def test_runs_are_profiles_in_the_order_of_commits_and_entries(self):
        store = self.store()
        two, one, three = self.hashes
        expected = [(three, 3000), (one, 1000), (two, 2000), ('now.perf', 4000)]
        for path in (self.folder, store.root, store.root + '/'):
            runs = self.sql(path, 'select id, source_id, start_time from run order by id')
            self.assertEqual(expected, [(r['source_id'], r['start_time']) for r in runs])
            self.assertEqual([0, 1, 2, 3], [r['id'] for r in runs])
        sources = [r['source'] for r in self.sql(store.root, 'select source from run order by id')]
        self.assertEqual([store.path(three), store.path(one), store.path(two), os.path.join(store.root, 'jobs', 'now.perf')], sources)

    def test_attributes_say_what_the_indexes_say(self):
        self.store()
        rows = self.sql(self.folder, "select owner_id, key, value from attribute where owner = 'run' and key in "
                                  "('commit', 'type', 'cmd', 'workload', 'collector', 'postprocessors', 'file', 'state') order by owner_id")
        got = {}
        for r in rows:
            if r['value'] == '[]':  # as the profile itself says
                continue
            self.assertNotIn(r['key'], got.get(r['owner_id'], {}))
            got.setdefault(r['owner_id'], {})[r['key']] = r['value']
        self.assertEqual({
            # the first version has names only: the rest is from the profile itself
            0: {'commit': A, 'file': 'three.perf', 'state': 'stored', 'type': 'time', 'cmd': './bench', 'workload': 'small', 'collector': 'time'},
            1: {'commit': B, 'file': 'one.perf', 'state': 'stored', 'type': 'mixed', 'cmd': './bench', 'workload': 'small', 'collector': 'trace', 'postprocessors': 'clusterizer normalizer'},
            2: {'commit': B, 'file': 'two.perf', 'state': 'stored', 'type': 'mixed', 'cmd': './bench', 'workload': 'large', 'collector': 'trace'},
            3: {'file': 'now.perf', 'state': 'pending', 'type': 'mixed', 'cmd': './bench', 'workload': 'small', 'collector': 'trace'}}, got)

    def test_records_and_values_are_those_of_each_profile(self):
        self.store()
        rows = self.sql(self.folder, 'select run, uid, amount from record order by id')
        self.assertEqual([(0, 'h', 7), (1, 'f', 1), (1, 'f', 2), (1, 'f', 3), (2, 'g', 5), (2, 'g', 6), (3, 'p', 9), (3, 'p', 9)], [(r['run'], r['uid'], r['amount']) for r in rows])
        rows = self.sql(self.folder, 'select run, path, value from value join context on context = context.id order by run')
        self.assertEqual([(0, 'h', 7), (1, 'f', 6), (2, 'g', 11), (3, 'p', 18)], [(r['run'], r['path'], r['value']) for r in rows])

    def test_info_counts_and_lists_them(self):
        self.store()
        info = run('info', '--json', self.folder).json
        self.assertEqual(('perun-store', '2', 4, 8, []), (info['format'], info['format_version'], info['runs'], info['records'], info['problems']))
        for shown in (run('info', self.folder).out, run_on_terminal('info', self.folder, columns=100).out):
            for word in ('Perun store', 'aaaaaaa', 'bbbbbbb', 'three.perf', 'now.perf', 'pending', 'large', 'trace'):
                self.assertIn(word, shown)
        listed = [(p['commit'], p['state'], p['type'], p['collector'], p['cmd'], p['workload'], p['file'], p['start_time']) for p in info['profiles']]
        self.assertEqual([(A, 'stored', 'time', 'time', './bench', 'small', 'three.perf', 3000), (B, 'stored', 'mixed', 'trace', './bench', 'small', 'one.perf', 1000),
                          (B, 'stored', 'mixed', 'trace', './bench', 'large', 'two.perf', 2000), (None, 'pending', 'mixed', 'trace', './bench', 'small', 'now.perf', 4000)], listed)
        numbers = re.findall(r'^ *(\d+) .*?(\w+\.perf) ', run('info', self.folder).out, re.M)
        self.assertEqual([('1', 'one.perf'), ('2', 'two.perf'), ('0', 'three.perf'), ('3', 'now.perf')], numbers)
        for number, uid in (('1', 'f'), ('2', 'g'), ('0', 'h'), ('3', 'p')):  # by which convert takes one out
            out = self.path('one.out.perf')
            self.assertEqual(0, run('convert', self.folder, '-O', 'run=' + number, out).status)
            self.assertEqual([uid], [r['uid'] for r in self.sql(out, 'select distinct uid from record')])
        narrow = re.sub('\x1b\\[[0-9;]*m', '', run_on_terminal('info', self.folder, columns=60).out)
        self.assertTrue(all(len(line) <= 60 for line in narrow.splitlines()), narrow)

    def test_commit_times_come_from_the_repository_beside_it(self):
        store = self.store()
        store.git_commit(B, 1700000000)
        for path in (self.folder, store.root):
            rows = self.sql(path, "select owner_id, value from attribute where key = 'commit_time'")
            self.assertEqual([(1, 1700000000), (2, 1700000000)], [(r['owner_id'], int(r['value'])) for r in rows])

    def test_pending_profiles_need_no_index(self):
        store = Store(self.folder)
        store.pending([('b.perf', 10, profile('b')), ('a.perf', 20, profile('a'))], listed=False)
        with open(os.path.join(store.root, 'jobs', 'notes.txt'), 'w') as f:
            f.write('no profile')
        rows = self.sql(self.folder, 'select source_id, start_time from run order by id')
        self.assertEqual([('a.perf', 25), ('b.perf', 15)], [(r['source_id'], r['start_time']) for r in rows])

    def test_one_object_in_two_commits_is_two_runs(self):
        store = Store(self.folder)
        store.commit(A, [('x.perf', 1, profile())])
        store.commit(B, [('x.perf', 2, profile())])
        self.assertEqual([1, 2], [r['start_time'] for r in self.sql(self.folder, 'select start_time from run order by id')])

    def test_objects_in_no_index_are_read_with_a_note(self):
        store = self.store()
        sha = store.add(profile('lost', (4,)))
        rows = self.sql(self.folder, "select source_id, value from run join attribute on owner_id = run.id where owner = 'run' and key = 'state' order by run.id")
        self.assertEqual([(sha, 'unlisted')], [(r['source_id'], r['value']) for r in rows if r['value'] == 'unlisted'])
        self.assertEqual([('note', 'store-unlisted')], [p[:2] for p in self.problems(self.folder)])

    def test_an_empty_store_is_a_store(self):
        Store(self.folder)
        info = run('info', '--json', self.folder)
        self.assertEqual((0, 0, 'perun-store'), (info.status, info.json['runs'], info.json['format']), info)
        self.assertEqual(run('info', self.folder).status, 0)

    def test_changes_become_a_table(self):
        store = self.store()
        store.put(B, f'operator()(int, char) PerformanceChange.Degradation linear  12.5ms 20 0.6 r_square 0.98 60.0 {A} ./bench small\n\n'
                     f'f PerformanceChange.NoChange - 1 1 1.0 no 0.0 0.0 {A} ./bench\n'
                     f'nonsense\n'.encode(), '.changes')
        rows = self.sql(self.folder, 'select * from change order by id')
        self.assertEqual([
            {'id': 0, 'run': None, 'commit': B, 'location': 'operator()(int, char)', 'result': 'Degradation', 'type': 'linear ', 'from': '12.5ms', 'to': 20, 'rate': 0.6,
             'confidence_type': 'r_square', 'confidence': 0.98, 'rate_relative': 60.0, 'baseline': A, 'cmd': './bench small'},
            {'id': 1, 'run': None, 'commit': B, 'location': 'f', 'result': 'NoChange', 'type': '-', 'from': 1, 'to': 1, 'rate': 1.0,
             'confidence_type': 'no', 'confidence': 0.0, 'rate_relative': 0.0, 'baseline': A, 'cmd': './bench'}], rows)
        problem = self.sql(self.folder, 'select * from problem')
        self.assertEqual([('warning', 'store-changes', 4)], [(p['severity'], p['rule'], p['line']) for p in problem])

    def test_git_s_own_folder_is_no_store(self):
        for folder in ('objects', 'refs'):
            os.makedirs(os.path.join(self.folder, '.git', folder))
        for path in (self.folder, os.path.join(self.folder, '.git')):
            self.assertEqual(run('info', path).status, 3)
        refused = run('info', '--from', 'perun-store', self.folder)
        self.assertEqual((3, 1), (refused.status, len(refused.err.splitlines())), refused)
        self.assertIn('no Perun store', refused.err)


class Damaged(StoreCase):
    def check_left_out(self, path, rule, file, offset, lost):
        """The others are read; there is one warning, of this file and offset. validate fails."""
        runs = {r['source_id'] for r in self.sql(path, 'select source_id from run')}
        self.assertEqual({*self.hashes, 'now.perf'} - set(lost), runs)
        problems = [p for p in self.problems(path) if p[0] != 'note']
        self.assertEqual([('warning', rule, file, offset)], [p[:4] for p in problems])
        self.assertEqual(run('validate', path).status, 1)

    def damage(self, path, change):
        with open(path, 'rb') as f:
            data = f.read()
        with open(path, 'wb') as f:
            f.write(change(data))
        return data

    def test_an_object_that_is_cut(self):
        store = self.store()
        path = store.path(self.hashes[0])
        data = self.damage(path, lambda b: b[:-7])
        self.check_left_out(self.folder, 'zlib-damaged', path, len(data) - 7, [self.hashes[0]])

    def test_an_object_with_something_behind_it(self):
        store = self.store()
        path = store.path(self.hashes[1])
        data = self.damage(path, lambda b: b + b'x')
        self.check_left_out(self.folder, 'zlib-damaged', path, len(data), [self.hashes[1]])

    def test_an_object_of_another_length(self):
        store = self.store()
        path = store.path(self.hashes[2])
        self.damage(path, lambda b: zlib.compress(object_content(profile(), length=3)))
        self.check_left_out(self.folder, 'object-length', path, 0, [self.hashes[2]])

    def test_an_object_that_is_neither(self):
        store = self.store()
        path = store.path(self.hashes[0])
        self.damage(path, lambda b: b'nothing known')
        problems = {(p[1], p[2], p[3]) for p in self.problems(self.folder)}
        self.assertIn(('store-object', path, 0), problems)
        self.assertIn('store-missing', {p[0] for p in problems})
        self.assertEqual(3, len(self.sql(self.folder, 'select * from run')))

    def test_an_object_whose_json_is_bad(self):
        store = self.store()
        for text, rule in (('{"header": {},}', 'json-syntax'), ('{"header": {}, "resources": [{"uid": "f", "amount": 1}, 5]}', None), ('[]', None)):
            path = store.path(self.hashes[0])
            self.damage(path, lambda b: zlib.compress(object_content(text)))
            problems = [p for p in self.problems(self.folder) if p[0] != 'note']
            self.assertEqual([('warning', path)], [(p[0], p[2]) for p in problems])
            if rule:
                self.assertEqual(rule, problems[0][1])
            rows = self.sql(self.folder, 'select run, uid, amount from record order by id')  # nothing of it is left
            self.assertEqual([(0, 'h', 7), (1, 'f', 1), (1, 'f', 2), (1, 'f', 3), (2, 'p', 9), (2, 'p', 9)], [(r['run'], r['uid'], r['amount']) for r in rows])

    def test_a_pending_profile_that_is_bad(self):
        store = self.store()
        path = os.path.join(store.root, 'jobs', 'now.perf')
        self.damage(path, lambda b: b[:40])
        problems = self.problems(self.folder)
        self.assertEqual([('warning', 'json-syntax', path)], [p[:3] for p in problems])
        self.assertEqual(3, len(self.sql(self.folder, 'select * from run')))

    def test_indexes_cut_at_every_byte(self):
        store = self.store()
        with open(store.path(B), 'rb') as f:
            whole = f.read()
        _, one, _ = self.hashes
        first = whole.index(b'two.perf') - 24  # the second entry
        for cut in range(len(whole)):
            with open(store.path(B), 'wb') as f:
                f.write(whole[:cut])
            result = run('sql', '--json', self.folder, "select source_id, key, value from run left join attribute on owner_id = run.id and owner = 'run' and key = 'state' order by run.id")
            self.assertEqual(result.status, 0, (cut, result))
            states = {r['source_id']: r['value'] for r in result.json}
            self.assertEqual(4, len(states), cut)  # all objects are there, listed or not
            self.assertEqual('stored' if cut >= first else 'unlisted', states[one], cut)

    def test_indexes_with_wrong_numbers(self):
        store = self.store()
        with open(store.path(B), 'rb') as f:
            whole = f.read()
        def put(offset, number): return whole[:offset] + struct.pack('<I', number) + whole[offset + 4:]
        text = whole.index(b'one.perf\0') + 9
        for data, offset, what in ((put(4, 3), 4, 'version'), (put(8, 1), whole.index(b'two.perf') - 24, 'behind the last'), (put(8, 0xffffffff), len(whole), 'cut off'),
                                   (put(text, 0xffffffff), text, 'longer'), (whole[:text + 4] + b'\xff' + whole[text + 5:], text + 4, 'UTF-8'), (b'pidx', 4, 'cut off')):
            with open(store.path(B), 'wb') as f:
                f.write(data)
            problems = [p for p in self.problems(self.folder) if p[0] != 'note']
            self.assertEqual([('warning', 'store-index', store.path(B), offset)], [p[:4] for p in problems], what)
            self.assertIn(what, problems[0][4])

    def test_an_entry_without_its_object(self):
        store = self.store()
        os.remove(store.path(self.hashes[0]))
        offset = None
        with open(store.path(B), 'rb') as f:
            offset = f.read().index(b'two.perf') - 24
        self.check_left_out(self.folder, 'store-missing', store.path(B), offset, [self.hashes[0]])

    def test_nothing_can_be_read(self):
        store = Store(self.folder)
        hashes = store.commit(A, [('x.perf', 1, profile()), ('y.perf', 2, profile('other'))])
        for sha in hashes:
            self.damage(store.path(sha), lambda b: b[:20])
        refused = run('info', self.folder)
        self.assertEqual((3, 1), (refused.status, len(refused.err.splitlines())), refused)
        self.assertIn(hashes[0][2:], refused.err)

    def test_a_trap_stops_at_the_limit(self):
        store = self.store()
        content = object_content('{"header": "' + ' ' * (1 << 26) + '"}')
        store.put(hashlib.sha1(content).hexdigest(), zlib.compress(content, 9))
        self.assertIn(run('info', '--memory', '16M', self.folder).status, (0, 3))

    def test_a_store_that_cannot_be_listed(self):
        store = self.store()
        os.chmod(os.path.join(store.root, 'objects', 'aa'), 0)
        try:
            self.assertIn(run('info', self.folder).status, (0, 3))
        finally:
            os.chmod(os.path.join(store.root, 'objects', 'aa'), 0o755)


if __name__ == '__main__':
    unittest.main()
