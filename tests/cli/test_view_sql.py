"""SQL in the viewer: what it answers, and what nobody can make it do."""
import json
import os
import shutil
import tempfile
import threading
import time

from common import Case, main, run
from viewer import is_sanitized, Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
FILTER = os.path.join(EXAMPLES, 'gpu', 'filter.sqlite')
COUNTING = 'with recursive r(value) as (select 1 union all select value + 1 from r limit %d) select value from r'
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
        for statement in ('select zeroblob(1000000000)', 'select hex(randomblob(1e9))', "select replace(hex(zeroblob(100000)), '0', '0000000000')", 'select group_concat(value) from (' + COUNTING
                          % 300000 + ')', 'select 1 -- ' + 'x' * (64 << 10), "select printf('%300000d', 1)",
                          "select format('%s%s', hex(zeroblob(100000)), hex(zeroblob(100000))) is null"):
            error = self.refused(statement)
            self.assertEqual(422, error.status)
            self.assertIn('more than 256 KiB', error.message, statement[:80])

    def test_long_texts_are_cut_and_memory_is_bounded(self):
        text = self.ask("select replace(hex(zeroblob(100000)), '00', 'ä')")['rows'][0][0]
        self.assertEqual('ä' * (1 << 15) + '…', text)
        before = self.viewer.peak_memory()
        wide = 'with t(x) as (select hex(zeroblob(120000))) select ' + ','.join(['x || %d' % i for i in range(400)]) + ' from t'
        self.assertEqual(507, self.refused(wide).status)
        many = 'with recursive c(x, b) as (select 1, hex(randomblob(100000)) union all select x + 1, hex(randomblob(100000)) from c limit 200) select json_group_array(b) over (order by x) from c'
        self.assertIn(self.refused(many).status, (422, 507))
        self.assertEqual([[1]], self.ask('select 1')['rows'])
        if not is_sanitized():
            self.assertLess(self.viewer.peak_memory() - before, 100 << 20)

    def test_the_limit_is_that_of_statements_alone(self):
        """A database is dropped while a statement has nearly all memory that statements may have: both are as if they were alone."""
        def statement(n):
            wide = ','.join(f'x || {i}' for i in range(n))  # 240 kB each
            return f'with t(x) as (select hex(zeroblob(120000))) select {wide}, (select count(*) from ({COUNTING % 600000})) from t'.encode()

        def ask(n):
            answers.append(viewer.ask(viewer.path('sql', {}), 'POST', statement(n)))
        with open(FILTER, 'rb') as f:
            export = f.read()
        with Viewer(os.path.join(EXAMPLES, 'heat.cubex')) as viewer:
            statuses = {}
            low, high = 200, 290  # one fits, the other does not
            while low + 1 < high:
                middle = (low + high) // 2
                status = viewer.ask(viewer.path('sql', {}), 'POST', statement(middle).replace(b'600000', b'1'))[0]
                statuses[middle] = status
                low, high = (middle, high) if status == 200 else (low, middle)
            self.assertEqual({200, 507}, set(statuses.values()))
            answers = []
            thread = threading.Thread(target=ask, args=(low,))
            thread.start()
            n = 0
            while thread.is_alive():
                viewer.post('drop', export, drop=f'a{n}', name='x.sqlite')
                self.assertIsNone(viewer.post('open', drop=f'a{n}')['inputs'][-1]['error'])
                n += 1
            thread.join()
            self.assertGreater(n, 1)
            self.assertEqual(200, answers[0][0], answers[0][2][:300])
            self.assertEqual(600000, json.loads(answers[0][2])['rows'][0][-1])

    def test_functions_that_nothing_can_stop(self):
        """Some take as many steps as the product of two sizes, one as many as a number says: hours, in a single step of SQLite."""
        of = "replace(hex(zeroblob(%d)), '00', '%s')"
        for name, statement in (('trim', f"select trim({of % (120000, 'b')}, {of % (120000, 'c')} || 'b')"), ('ltrim', f"select ltrim({of % (120000, 'b')}, {of % (120000, 'c')} || 'b')"),
                                ('rtrim', f"select rtrim({of % (120000, 'b')}, {of % (120000, 'c')} || 'b')"), ('instr', f"select instr({of % (120000, 'a')}, {of % (60000, 'a')} || 'b')"),
                                ('replace', f"select replace({of % (120000, 'a')}, {of % (60000, 'a')} || 'b', '')"), ('like', f"select {of % (120000, 'a')} like {of % (999, 'a')} || 'b'"),
                                ('glob', f"select {of % (120000, 'a')} glob {of % (999, 'a')} || 'b'"), ('printf', "select printf('%.*c', 1000000000, 'x')"),
                                ('printf', "select printf('%-1000000000d', 1)"), ('format', "select format('%5.1000000000c', 'x')"),
                                ('json_patch', f"with j as (select json_group_object(value, 1) j from ({COUNTING % 18000})) select length(json_patch(j, j)) from j")):
            begin = time.monotonic()
            self.assertEqual(f'texts too long for {name}() here; use `assay sql`, which has no limit', self.refused(statement).message)
            self.assertLess(time.monotonic() - begin, 15, name)
        self.assertIn('too complex', self.refused(f"select 'a' like {of % (1001, 'a')} escape '!'").message)

    def test_guarded_functions_answer_as_the_command(self):
        """What SQLite itself says, which `assay sql` asks as it is."""
        for statement in ("select trim('xxaxx', 'x'), ltrim('xxaxx', 'x'), rtrim('xxaxx', 'x'), trim(' a '), trim(null, 'x'), trim(12321, 1)",
                          "select instr('abcb', 'b'), instr('äöü', 'ü'), instr(x'0102', x'02'), instr(null, 'a'), instr('a', ''), instr(123, 2)",
                          "select replace('aab', 'a', 'xx'), replace('aab', '', 'x'), replace(null, 'a', 'b'), replace('a', 'a', null)",
                          "select 'ABC' like 'a%', 'ABC' like 'a', 'äÖ' like '_ö', 'a_' like 'a!_' escape '!', 'ab' like 'a!_' escape '!', null like 'a', 'a' like null, 5 like '5', 'a' not like 'b'",
                          "select 'ABC' glob 'A*', 'ABC' glob 'a*', 'b' glob '[a-c]', null glob 'a'",
                          """select json_patch('{"a": 1, "b": 2}', '{"b": null, "c": [3]}'), json_array(json_patch('{}', '{"a": 1}')), json_patch(null, '{}')""",
                          "select printf('%05d|%-*s|%.*f 1234567890123 %%', 7, 5, 'ab', 2, 1.239), format('%s'), printf(null), printf('%,d', 1234567), printf('%c%c', 'xy', 'z'), printf('%!.20g', 0.1)"):
            told = run('sql', '--json', FILTER, statement)
            self.assertEqual(0, told.status, told.err)
            self.assertEqual(list(told.json[0].values()), self.ask(statement)['rows'][0], statement)

    def test_programs_without_a_loop(self):
        """SQLite looks at the clock in loops alone; some hundred slow functions in a row have none."""
        row = "with t as materialized (select replace(hex(zeroblob(8000)), '00', 'b') b, replace(hex(zeroblob(8000)), '00', 'c') || 'b' c) select %s from t"
        statement = row % ' + '.join(f'length(trim(b, c)) * {i}' for i in range(99))
        begin = time.monotonic()
        try:
            self.viewer.ask(self.viewer.path('sql', {}), 'POST', statement.encode(), timeout=1)
        except OSError:
            pass
        self.assert_idle_soon(begin + 15)

    def assert_idle_soon(self, deadline):
        """The server stops working by then."""
        while True:
            before = self.viewer.processor_seconds()
            time.sleep(0.3)
            if self.viewer.processor_seconds() - before < 0.05:
                return
            self.assertLess(time.monotonic(), deadline, 'goes on though nobody waits for it')

    def test_who_hangs_up_ends_a_sort(self):
        begin = time.monotonic()
        with self.assertRaises(OSError):
            self.viewer.ask(self.viewer.path('sql', {}), 'POST', f'select * from ({COUNTING % 100000000}) order by hex(randomblob(40))'.encode(), timeout=1)
        self.assert_idle_soon(begin + 15)

    def test_sorting_may_take_some_disk_and_no_more(self):
        temporary = tempfile.mkdtemp(dir=self.folder)
        with Viewer(FILTER, env={'TMPDIR': temporary, 'SQLITE_TMPDIR': temporary}) as viewer:
            rows = viewer.post('sql', f"select value, printf('%.*c', 400, 'x') from ({COUNTING % 300000}) order by -value".encode())['rows']
            self.assertEqual((300000, 299999), (rows[0][0], rows[1][0]), 'more than memory may have, and sorted all the same')
            with self.assertRaises(Refused) as caught:
                viewer.post('sql', f"select value, printf('%.*c', 4000, 'x') from ({COUNTING % 300000}) order by -value".encode())
            self.assertIn('this sorts more than 512 MiB', caught.exception.message)
            self.assertEqual([], os.listdir(temporary))
            if not is_sanitized():
                self.assertLess(viewer.peak_memory(), 150 << 20)

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

    def test_who_changes_an_input_gets_a_turn(self):
        """Statements that always overlap do not keep a formula waiting: it comes before those that begin later."""
        count = 'with recursive r(x) as (select 1 union all select x + 1 from r limit %d) select count(*) from r'
        with Viewer(os.path.join(EXAMPLES, 'heat.cubex')) as viewer:
            begin = time.monotonic()
            viewer.post('sql', (count % 500000).encode())
            n = int(500000 * 1.0 / max(time.monotonic() - begin, 1e-3))  # about a second
            end = time.monotonic() + 12

            def ask(offset):
                time.sleep(offset)
                while time.monotonic() < end:
                    viewer.post('sql', (count % n).encode())
            threads = [threading.Thread(target=ask, args=(k / 3,)) for k in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(1.5)
            viewer.get('tree', derive='twice=time*2')
            self.assertLess(time.monotonic(), end - 1, 'it waited until there were no statements any more')
            for thread in threads:
                thread.join()

    def test_problems_of_values(self):
        """Those that show when values are decoded come once, whoever asks at the same time."""
        path = os.path.join(self.folder, 'db')
        shutil.copytree(os.path.join(EXAMPLES, 'heat-hpctoolkit'), path)
        with open(os.path.join(path, 'cct.db'), 'r+b') as f:
            f.seek(3028)
            byte = f.read(1)[0]
            f.seek(3028)
            f.write(bytes([byte ^ 0x10]))  # of a value
        result = run('sql', '--json', path, 'select severity, rule, message from problem')
        self.assertTrue(result.json)
        with Viewer(path) as viewer:
            answers = []

            def ask():
                answers.append(viewer.post('sql', b'select severity, rule, message from problem')['rows'])
            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual([[list(row.values()) for row in result.json]] * 4, answers)
            self.assertEqual(len(result.json), viewer.get('inputs')['inputs'][0]['problems'])

    def test_nobody_waits_and_who_hangs_up_ends_it(self):
        def leave():
            try:
                self.viewer.ask(self.viewer.path('sql', {}), 'POST', ENDLESS.encode(), timeout=4)
            except OSError:
                pass
        threads = [threading.Thread(target=leave) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.4)
        self.viewer.get('inputs')
        self.assertIn('still running', self.refused('select 1').message)
        self.assertTrue(all(thread.is_alive() for thread in threads), 'an answer came only when others had left')
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
