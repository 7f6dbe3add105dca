"""SQL in the viewer: what it answers, and what nobody can make it do."""
import json
import os
import threading
import time

from common import Case, main, run
from viewer import is_sanitized, Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
FILTER = os.path.join(EXAMPLES, 'gpu', 'filter.sqlite')
ENDLESS = 'with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r'


class Sql(Case):
    @classmethod
    def setUpClass(cls):
        cls.viewer = Viewer(FILTER, os.path.join(EXAMPLES, 'kernels.txt'))

    @classmethod
    def tearDownClass(cls):
        cls.viewer.end()

    def ask(self, statement, **params):
        return self.viewer.post('sql', statement.encode(), **params)

    def refused(self, statement):
        with self.assertRaises(Refused) as caught:
            self.ask(statement)
        return caught.exception

    def test_rows_are_those_of_the_command(self):
        statement = 'select c.path, n.inclusive, n.exclusive from node n join context c on c.id = n.context order by 1, 2 limit 50'
        told = run('sql', '--json', FILTER, statement).json
        answer = self.ask(statement)
        self.assertEqual(['path', 'inclusive', 'exclusive'], answer['columns'])
        self.assertEqual([list(row.values()) for row in told], answer['rows'])
        self.assertEqual((len(told), False), (answer['n'], answer['more']))
        self.assertEqual([[6]], self.ask('select count(*) from point', d=1)['rows'])

    def test_types(self):
        answer = self.ask("select 9007199254740993, -9e999, null, x'00ff', 'it''s', 1e0, 9007199254740992 union all select 1, 2, null, x'', 'b', 3, 4")
        self.assertEqual([['9007199254740993', '-inf', None, "x'00ff'", "it's", 1, 9007199254740992], [1, 2, None, "x''", 'b', 3, 4]], answer['rows'])
        self.assertEqual(['integer', 'real', 'null', 'blob', 'text', 'real', 'integer'], answer['types'])

    def test_many_rows(self):
        answer = self.ask('with recursive r(x) as (select 1 union all select x + 1 from r limit 10001) select x from r')
        self.assertEqual((10000, True, [10000]), (answer['n'], answer['more'], answer['rows'][-1]))
        answer = self.ask('with recursive r(x) as (select 1 union all select x + 1 from r limit 10000) select x from r')
        self.assertEqual((10000, False), (answer['n'], answer['more']))
        long = self.ask("with recursive r(x) as (select 1 union all select x + 1 from r limit 9000) select printf('%.*c', 10000, 'x') from r")
        self.assertTrue(long['more'])
        self.assertLess(long['n'], 500)

    def test_places_of_errors(self):
        for statement, line, column, offset, words in (('select absent from metric', 1, 8, 7, 'no such column: absent'), ("-- ä\n;select 'ä',\n  absent", 3, 3, 22, 'no such column'),
                                                       ('selct 1', 1, 1, 0, 'syntax error'), ('select 1; select 2', 1, 11, 10, 'one at a time')):
            error = json.loads(self.refused(statement).body)
            self.assertEqual((line, column, offset), (error['line'], error['column'], error['offset']), statement)
            self.assertIn(words, error['error'])
        self.assertEqual(400, self.refused(' -- nothing\n;').status)
        self.assertEqual(400, self.refused('').status)
        self.assertEqual(400, self.refused('select 1\0; drop table x').status)

    def test_comments_around_a_statement(self):
        self.assertEqual([[1]], self.ask('-- first\n; /* and */ select 1 ; -- last\n;').get('rows'))

    def test_hostile_statements(self):
        target = self.path('written')
        secret = self.write('secret', b'secret')
        for statement in (f"attach '{target}' as x", f"vacuum into '{target}'", f"select load_extension('{secret}')", f"select readfile('{secret}')", f"select writefile('{target}', 'x')",
                          'pragma writable_schema = 1', "pragma temp_store_directory = '/'", 'pragma journal_mode = delete', 'create table t (x)',
                          'create temp table t as select 1', 'create temp view t as select 1', "insert into metric (name) values ('x')", "update metric set name = 'x'", 'delete from value',
                          'delete from sqlite_master', 'drop table metric', 'begin', 'commit', 'savepoint x', 'detach main', 'reindex', 'analyze', "select fts3_tokenizer('simple')",
                          "create virtual table temp.t using fts3tokenize('simple')", 'create temp trigger t after insert on metric begin select 1; end',
                          f"select * from csv('{secret}')", "select * from fsdir('/')", f"select edit('{secret}')"):
            self.assertIn(self.refused(statement).status, (400, 422), statement)
            self.assertFalse(os.path.exists(target), statement)

    def test_large_values(self):
        for statement in ('select zeroblob(1000000000)', "select replace(hex(zeroblob(3000000)), '0', '0000000000')"):
            self.assertEqual(422, self.refused(statement).status)

    def test_long_texts_are_cut_and_memory_is_bounded(self):
        text = self.ask("select replace(hex(zeroblob(1000000)), '00', 'ä')")['rows'][0][0]
        self.assertEqual('ä' * (1 << 15) + '…', text)
        before = self.viewer.peak_memory()
        wide = 'with t(x) as (select hex(zeroblob(1900000))) select ' + ','.join(['x || %d' % i for i in range(400)]) + ' from t'
        self.assertEqual(507, self.refused(wide).status)
        many = 'with recursive c(x, b) as (select 1, hex(randomblob(1000000)) union all select x + 1, hex(randomblob(1000000)) from c limit 200) select json_group_array(b) over (order by x) from c'
        self.assertIn(self.refused(many).status, (422, 507))
        self.assertEqual([[1]], self.ask('select 1')['rows'])
        if not is_sanitized():
            self.assertLess(self.viewer.peak_memory() - before, 100 << 20)

    def test_models_and_statements_at_the_same_time(self):
        """Models are put into the dataset for a while: statements that read it see those of the file."""
        path = self.write('e.txt', 'PARAMETER p\nPOINTS 1 2 4 8 16 32\n' + ''.join(
            f'REGION f{i}\nMETRIC time\n' + ''.join(f'DATA {i + p * p}\n' for p in (1, 2, 4, 8, 16, 32)) for i in range(40)))
        with Viewer(path) as viewer:
            answers, ended = [], threading.Event()

            def ask():
                while not ended.is_set():
                    answers.append(viewer.post('sql', b'select sum((select count(*) from model m where m.id + a.id + b.id >= 0)), max(a.name) from region a, region b')['rows'][0])
            threads = [threading.Thread(target=ask) for _ in range(2)]
            for thread in threads:
                thread.start()
            for n in range(12):
                viewer.get('scale', measure=('mean', 'median', 'minimum', 'maximum')[n % 4], limit=3)
            ended.set()
            for thread in threads:
                thread.join()
            self.assertEqual(0, viewer.end()[0])
        self.assertGreater(len(answers), 2)
        self.assertEqual({(0, 'f9')}, {tuple(a) for a in answers})

    def test_nobody_waits_and_who_hangs_up_ends_it(self):
        def leave():
            try:
                self.viewer.ask(self.viewer.path('sql', {}), 'POST', ENDLESS.encode(), timeout=1)
            except OSError:
                pass
        threads = [threading.Thread(target=leave) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.4)
        begin = time.monotonic()
        self.viewer.get('inputs')
        self.assertLess(time.monotonic() - begin, 0.5)
        self.assertIn('still running', self.refused('select 1').message)
        for thread in threads:
            thread.join()
        for _ in range(50):
            try:
                self.assertEqual([[1]], self.ask('select 1')['rows'])
                break
            except Refused:
                time.sleep(0.1)
        else:
            self.fail('statements go on that nobody waits for')

    def test_schema(self):
        tables = {t['name']: t for t in self.viewer.get('schema')['tables']}
        listed = run('sql', FILTER, '.tables').out.split()
        self.assertEqual(sorted(listed), sorted(tables))
        for name in listed:
            told = run('sql', FILTER, f'.schema {name}').out.split('(', 1)[1].rstrip(')\n')
            self.assertEqual(told, ', '.join(f"{c['name']} {c['type']}".strip() for c in tables[name]['columns']))
        for name, table in tables.items():
            if table['rows'] is not None:
                self.assertEqual([[table['rows']]], self.ask(f'select count(*) from {name}')['rows'], name)
        self.assertEqual('Intervals, moments and samples on the time line', tables['event']['about'])
        self.assertEqual('context.id', next(c for c in tables['event']['columns'] if c['name'] == 'context')['about'])


if __name__ == '__main__':
    main()
