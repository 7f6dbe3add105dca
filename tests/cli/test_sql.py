"""The sql verb: statements, several paths, output modes, exit statuses, and the interactive shell on a pseudo-terminal."""
import csv
import io
import json
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

import cubex

ASSAY = os.environ['ASSAY']
TWO = 'PARAMETER p\nPOINTS 4 8\nMETRIC time\nREGION main->a\nDATA 1 3\nDATA 2 nan\nREGION main->b\nDATA 10 20 30\nDATA 5\n'
FURTHER = 'PARAMETER p\nPOINTS 8 16\nMETRIC time\nREGION main->a\nDATA 7\nDATA 9\n'
OTHER = 'PARAMETER n\nPOINTS 1\nMETRIC visits\nREGION x\nDATA 5\n'


def run(*arguments, stdin=''):
    done = subprocess.run([ASSAY, 'sql', *arguments], input=stdin, capture_output=True, text=True, encoding='utf-8', timeout=60)
    return done.returncode, done.stdout, done.stderr


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.two, self.further, self.other = (self.write(n, t) for n, t in (('two.txt', TWO), ('further-1.txt', FURTHER), ('other.txt', OTHER)))

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        return path

    def rows(self, *arguments, stdin=''):
        status, out, error = run('--json', *arguments, stdin=stdin)
        self.assertEqual((0, ''), (status, re.sub('assay: note: .*\n', '', error)))
        return json.loads(out)


def records(*amounts):
    return json.dumps({'header': {'type': 'mixed', 'units': {}}, 'resources': [{'uid': f'f{i}', 'amount': a} for i, a in enumerate(amounts)]})


class OrderOfRecords(Case):
    """As SQLite itself orders the same values."""
    def check(self, amounts, *statements):
        path = self.write('order.perf', records(*amounts))
        with sqlite3.connect(':memory:') as db:
            db.execute('create table record(id integer, uid, amount)')
            db.executemany('insert into record values (?, ?, ?)', [(i, f'f{i}', a) for i, a in enumerate(amounts)])
            for statement in statements:
                expected = [list(row) for row in db.execute(statement)]
                self.assertEqual(expected, [list(row.values()) for row in self.rows(path, statement)], statement)

    STATEMENTS = ('select id, amount from record order by amount', 'select id, amount from record order by amount desc',
                  'select amount, count(*), min(id) from record group by amount', 'select count(distinct amount) from record', 'select id from record where id > 2 order by amount',
                  'select a.id, b.id from record a join record b on b.amount = a.amount order by a.amount, b.id limit 50', 'select id from record order by amount, id desc',
                  'select distinct amount from record where id > 1',
                  'select distinct amount from record where amount > 0 order by amount limit 2 offset 1', 'select distinct amount, id > 2 from record order by id',
                  'select distinct amount from record order by amount', 'select count(*) from (select distinct amount from record where amount is not null)',
                  'select amount from record where amount is not null group by amount order by min(id)', 'select amount from record where amount < 3 order by amount desc',
                  'select amount, count(*) from record where amount > 0 group by amount', 'select distinct amount from record order by amount desc limit 3', 'select id, (select amount from record order by amount limit 1) from record order by id')

    def test_numbers(self):
        self.check([3, 1.5, -2, 0.0, -0.0, 1e300, -1e300, 2**53, 3.0, 1, 1.5, 0, -1e-300, 7, -2], *self.STATEMENTS)

    def test_null_comes_first(self):
        self.check([3, None, -2, None, 2.5], *self.STATEMENTS)

    def test_what_is_not_only_numbers(self):
        self.check([3, 'text', -2, '10', 2.5], *self.STATEMENTS)
        self.check([2**53 + 1, 2**53, 2.0**53 + 2, 2**62, 5], *self.STATEMENTS)


class Statements(Case):
    def test_rows_are_objects(self):
        self.assertEqual([{'path': 'main->a', 'label': '(4)', 'mean': 2, 'repetitions': 2}, {'path': 'main->a', 'label': '(8)', 'mean': None, 'repetitions': 2},
                          {'path': 'main->b', 'label': '(4)', 'mean': 20, 'repetitions': 3}, {'path': 'main->b', 'label': '(8)', 'mean': 5, 'repetitions': 1}],
                         self.rows(self.two, 'select c.path, p.label, m.mean, m.repetitions from measurement m join context c on c.id = m.context '
                                             'join point p on p.id = m.point order by 1, 2'))

    def test_infinities_and_null(self):
        self.assertEqual([{'a': 'inf', 'b': '-inf', 'c': None, 'd': 0.1}], self.rows(self.two, 'select 9e999 a, -9e999 b, null c, 0.1 d'))

    def test_same_names_stay_apart_in_json(self):
        self.assertEqual([{'id': 0, 'id:1': 1, 'id:2': 2}], self.rows(self.two, 'select 0 id, 1 id, 2 id'))

    def test_no_rows(self):
        self.assertEqual([], self.rows(self.two, 'select * from event'))
        self.assertEqual((0, 'id,label\n', ''), run('--csv', self.two, 'select * from point where 0'))

    def test_more_rows_than_a_batch(self):
        rows = self.rows(self.two, 'with recursive n(i) as (select 0 union all select i + 1 from n where i < 4999) select i from n')
        self.assertEqual(list(range(5000)), [r['i'] for r in rows])

    def test_modes(self):
        statement = "select 1 as a, 'x,y' as b union all select null, 'z'"
        self.assertEqual([['a', 'b'], ['1', 'x,y'], ['', 'z']], list(csv.reader(io.StringIO(run('--csv', self.two, statement)[1]))))
        self.assertEqual([{'a': 1, 'b': 'x,y'}, {'a': None, 'b': 'z'}], [json.loads(line) for line in run('--jsonl', self.two, statement)[1].splitlines()])
        self.assertRegex(run('--md', self.two, statement)[1], r'\| +1 \| x,y +\|')
        self.assertRegex(run(self.two, statement)[1], r'(?m)^ *1 +x,y *$')

    def test_texts_that_no_value_holds(self):
        """Of printf() as of other functions that is an error, where SQLite itself answers NULL; what writes nothing is NULL as there."""
        for statement in ("select printf('%2000000000s', 'x')", "select format('%d%999999999d', 1, 2)", 'select zeroblob(1000000001)'):
            status, out, error = run('--csv', self.two, statement)
            self.assertEqual((2, 'assay: sql: a text or blob has more than 1000000000 bytes; make less of it\n'), (status, error), statement)
        self.assertEqual([{'a': 300000, 'b': None, 'c': '', 'd': None, 'e': None, 'f': '7 x', 'g': None}],
                         self.rows(self.two, "select length(printf('%300000s', 'x')) a, printf('') b, printf('%s', '') c, printf(null, 1) d, printf('%y') e, format('%d %s', 7, 'x') f, printf() g"))
        self.assertEqual([{'n': 9 + 2 * 90 + 3 * 800 + 101}], self.rows(self.two, "with recursive c(x) as (select 1 union all select x + 1 from c limit 1000) select sum(length(printf(iif(x < 900, '%d', 'a'), x, x))) n from c"))

    def test_several_statements(self):
        self.assertEqual((0, 'a\n1\nb\n2\n', ''), run('--csv', self.two, 'select 1 a; ; select 2 b; -- nothing'))
        self.assertEqual((0, 'n\n8\n', ''), run('--csv', self.two, 'create temp view v as select count(*) n from value; select n from v'))

    def test_output_file(self):
        path = os.path.join(self.folder.name, 'out.csv')
        self.assertEqual((0, '', ''), run('--csv', '-o', path, self.two, 'select 1 a'))
        with open(path, encoding='utf-8') as f:
            self.assertEqual('a\n1\n', f.read())
        self.assertEqual(2, run('--csv', '-o', path, self.two, 'select 2 a; select b')[0])
        with open(path, encoding='utf-8') as f:
            self.assertEqual('a\n1\n', f.read(), 'a failed command leaves the file as it was')

    def test_statements_from_standard_input(self):
        self.assertEqual((0, 'n\n8\na\n1\n', ''), run('--csv', self.two, stdin='select count(*) as n\nfrom value;\n\n select 1 a'))
        status, out, error = run('--csv', self.two, stdin='select 1 a;\nselect b;\nselect 2 c;\n')
        self.assertEqual((2, 'a\n1\n', 'assay: sql:2:8: no such column: b; .schema lists them\n'), (status, out, error))

    def test_dot_commands(self):
        status, out, _ = run(self.two, '.tables')
        self.assertEqual((0, sorted(('parameter point coordinate run metric region context location value node summary measurement event record model term '
                                     'attribute problem').split())), (status, out.split()))
        self.assertEqual((0, 'value(run INTEGER, metric INTEGER, context INTEGER, location INTEGER, value)\n', ''), run(self.two, '.schema value'))
        self.assertEqual((0, 'a\n1\n', ''), run(self.two, stdin='.mode csv\nselect 1 a;\n.quit\nselect nothing;\n'))
        self.assertEqual((2, '', 'assay: sql: unknown command .tabels; did you mean .tables?\n'), run(self.two, stdin='.tabels\n'))
        self.assertEqual((2, '', 'assay: sql: no such table: x; .tables lists them\n'), run(self.two, '.schema x'))


class DeepTrees(Case):
    def test_paths(self):
        """Paths of more than 64 KiB are null: those of all levels together have no end."""
        depth, names = 5000, ['the_even_levels_all', 'all_of_the_odd_levels']
        program = ''.join(cubex.region(i, n) for i, n in enumerate(names)) + ''.join(f'<cnode id="{i}" calleeId="{i % 2}">' for i in range(depth)) + '</cnode>' * depth
        path = os.path.join(self.folder.name, 'deep.cubex')
        with open(path, 'wb') as f:
            f.write(cubex.tar({'0.index': cubex.index([0]), '0.data': cubex.rows('DOUBLE', [[1.0]]), 'anchor.xml': cubex.anchor(cubex.metric(0, 'time'), program, cubex.system(1))}))
        lengths = [19 * ((i + 2) // 2) + 21 * ((i + 1) // 2) + 2 * i for i in range(depth)]  # names and arrows
        known = [n for n in lengths if n <= 65536]
        self.assertTrue(2000 < len(known) < depth)
        self.assertEqual([{'n': depth, 'known': len(known), 'bytes': sum(known)}], self.rows(path, 'select count(*) n, count(path) known, sum(length(path)) bytes from context'))
        whole = '->'.join(names[i % 2] for i in range(len(known)))
        for first in (0, len(known) - 4):
            expected = [whole[:n] if n <= 65536 else None for n in lengths[first:first + 8]]
            for order in ('id', 'id desc'):
                rows = [r['path'] for r in self.rows(path, f'select path from context where id between {first} and {first + 7} order by {order}')]
                self.assertEqual(expected, rows if order == 'id' else rows[::-1])


class Failures(Case):
    def test_wrong_sql_is_status_2(self):
        for statement, message in (('selec 1', '1:1: near "selec": syntax error'),
                                   ('select x from value', '1:8: no such column: x; .schema lists them'),
                                   ("select 'é',\n x from value", '2:2: no such column: x; .schema lists them'),
                                   ("select 'é'; select 'ü' y", None), ("select 'é'; select 'ü', x", '1:25: no such column: x; .schema lists them'),
                                   ('select * from nope', ' no such table: nope; .tables lists them'), ('select 1; select (', ' incomplete input')):
            status, _, error = run(self.two, statement)
            self.assertEqual((2, f'assay: sql:{message}\n') if message else (0, ''), (status, error), statement)

    def test_wrong_usage_is_status_2(self):
        for arguments in ((), ('select 1',), ('--attach', '--merge', self.two, 'select 1'), ('--merge', self.two, self.other, 'select 1'), ('--nope', self.two, 'select 1')):
            status, out, error = run(*arguments)
            self.assertEqual((2, ''), (status, out), arguments)
            self.assertRegex(error, r'^assay: [^\n]+\n$')

    def test_unreadable_input_is_status_3(self):
        missing = os.path.join(self.folder.name, 'missing.txt')
        self.assertEqual(3, run(missing, 'select 1')[0])
        self.assertEqual(3, run(self.two, missing)[0], 'a last operand without blanks is a path')
        self.assertEqual(3, run(self.write('bad.txt', 'nonsense'), 'select 1')[0])

    def test_data_and_statements_both_from_standard_input(self):
        self.assertEqual((0, 'n\n8\n', ''), run('--csv', '-', 'select count(*) n from value', stdin=TWO))
        self.assertEqual(2, run('-', stdin=TWO)[0])

    def test_a_reader_that_leaves_is_no_error(self):
        command = f'"{ASSAY}" sql --csv "{self.two}" "with recursive n(i) as (select 0 union all select i + 1 from n) select i from n" | head -n 2'
        done = subprocess.run(['bash', '-o', 'pipefail', '-c', command], capture_output=True, text=True, timeout=30)
        self.assertEqual((0, 'i\n0\n', ''), (done.returncode, done.stdout, done.stderr))

    def test_statements_cannot_touch_files(self):
        target = os.path.join(self.folder.name, 'made.db')
        for statement in (f"attach '{target}' as x", f"vacuum into '{target}'", f"pragma temp_store_directory = '{self.folder.name}'", 'delete from value',
                          'create table t(a)', 'drop table value', "select load_extension('x')", f"select writefile('{target}', 'x')"):
            status, _, error = run(self.two, statement)
            self.assertEqual(2, status, statement)
            self.assertRegex(error, r'^assay: sql:[^\n]* [^\n]+\n$')
        self.assertFalse(os.path.exists(target))


class SeveralPaths(Case):
    def test_points_of_one_experiment_are_merged(self):
        self.assertEqual([{'label': '(4)', 'n': 5}, {'label': '(8)', 'n': 4}, {'label': '(16)', 'n': 1}],
                         self.rows(self.two, self.further, 'select p.label, count(*) n from value v join run r on r.id = v.run join point p on p.id = r.point group by p.id'))
        status, _, error = run(self.two, self.further, 'select 1')
        self.assertEqual((0, 'assay: note: the 2 files are seen as one experiment; --attach keeps them apart\n'), (status, error))
        self.assertEqual('', run('--quiet', self.two, self.further, 'select 1')[2])
        self.assertEqual('', run('--merge', self.two, self.further, 'select 1')[2])

    def test_attach_keeps_them_apart(self):
        self.assertEqual([{'a': 8, 'b': 8, 'c': 8, 'd': 2}],
                         self.rows('--attach', self.two, self.further, 'select (select count(*) from value) a, (select count(*) from main.value) b, '
                                                                       '(select count(*) from two.value) c, (select count(*) from further_1.value) d'))

    def test_others_lie_side_by_side(self):
        self.assertEqual([{'name': 'visits'}], self.rows(self.two, self.other, 'select name from other.metric'))
        error = run(self.two, self.other, 'select 1')[2]
        self.assertEqual('assay: note: the files lie side by side as the databases two, other (the first is also main)\n', error)
        self.assertEqual(['other.value', 'value'], sorted(n for n in run('-q', self.two, self.other, '.tables')[1].split() if n.endswith('value')))

    def test_the_same_name_twice(self):
        self.assertEqual([{'n': 8}], self.rows('--attach', self.two, self.two, 'select count(*) n from two_2.value'))

    def test_too_many_side_by_side(self):
        status, _, error = run('--attach', *[self.two] * 20, 'select 1')
        self.assertEqual((3, 1), (status, error.count('\n')))
        self.assertIn('20 datasets side by side', error)


class Export(Case):
    def test_database_answers_like_the_tables(self):
        path = os.path.join(self.folder.name, 'out.sqlite')
        done = subprocess.run([ASSAY, 'convert', self.two, path], capture_output=True, text=True, timeout=60)
        self.assertEqual((0, ''), (done.returncode, done.stderr))
        connection = sqlite3.connect(path)
        self.addCleanup(connection.close)
        statement = 'select c.path, p.label, v.value from value v join run r on r.id = v.run join point p on p.id = r.point join context c on c.id = v.context order by 1, 2, 3'
        self.assertEqual(connection.execute(statement).fetchall(), [tuple(r.values()) for r in self.rows(self.two, statement)])


class Shell(Case):
    """A terminal that reads until an expected text shows up."""

    def start(self, *paths):
        environment = dict(os.environ, XDG_STATE_HOME=os.path.join(self.folder.name, 'state'), HOME=self.folder.name, TERM='xterm', LC_ALL='C.UTF-8', NO_COLOR='1')
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(ASSAY, [ASSAY, 'sql', *paths], environment)
        self.seen = ''
        self.ended = False
        self.addCleanup(self.stop)
        self.assertIn('.help the commands', self.expect('assay> '))

    def stop(self):
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.terminal)

    def expect(self, text):
        """What came before the text; the rest waits for the next call."""
        end = time.monotonic() + 20
        while text not in self.seen:
            ready = select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]
            try:
                data = os.read(self.terminal, 65536).decode('utf-8', 'replace') if ready else ''
            except OSError:
                data = ''
            if not data:
                self.fail(f'{text!r} did not come; there is {self.seen!r}')
            self.seen += re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', data)
        before, self.seen = self.seen.split(text, 1)
        return before

    def type(self, text):
        os.write(self.terminal, text.encode())

    def end(self):
        """The exit status, when the command ends by itself."""
        end = time.monotonic() + 20
        while True:
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                self.fail('the shell does not end')
            try:
                if not os.read(self.terminal, 65536):
                    break
            except OSError:
                break
        _, status = os.waitpid(self.pid, 0)
        self.ended = True
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)

    def test_statements_errors_and_the_end(self):
        self.start(self.two)
        self.type('select count(*) * 1000 + 7 as n\n')
        self.expect('   ...> ')
        self.type('from value;\n')
        self.expect('8007')
        self.expect('assay> ')
        self.type('select nope;\n')
        self.expect('assay: sql:1:8: no such column: nope')
        self.expect('assay> ')
        self.type('.mode json\n')
        self.expect('assay> ')
        self.type("select 'é' || 'b' as t;\n")
        self.expect('{"t":"éb"}')
        self.expect('assay> ')
        self.type('\x04')
        self.assertEqual(0, self.end())

    def test_dot_commands(self):
        self.start(self.two)
        self.type('.schema point\n')
        self.expect('point(id INTEGER, label TEXT)')
        self.type('.help\n')
        self.expect('.mode text|csv|json|jsonl|md')
        self.type('.nope\n')
        self.expect('unknown command .nope')
        self.type('.quit\n')
        self.assertEqual(0, self.end())

    def test_history_is_kept(self):
        self.start(self.two)
        self.type('select 40 + 2\n')
        self.expect('   ...> ')
        self.type('as answer;\n')
        self.expect('42')
        self.type('.quit\n')
        self.assertEqual(0, self.end())
        path = os.path.join(self.folder.name, 'state', 'assay', 'history')
        self.assertEqual(0o600, os.stat(path).st_mode & 0o777)
        with open(path, encoding='utf-8') as f:
            self.assertIn('40', f.read())
        self.start(self.two)
        self.type('\x1b[A\x1b[A\n')  # twice up: past .quit
        self.expect('42')
        self.type('\x04')
        self.assertEqual(0, self.end())

    def test_history_that_cannot_be_kept_is_no_error(self):
        with open(os.path.join(self.folder.name, 'state'), 'w', encoding='utf-8'):
            pass
        self.start(self.two)
        self.type('.quit\n')
        self.assertEqual(0, self.end())

    def test_completion(self):
        self.start(self.two)
        self.type('select count(*) + 900 from measurem\t;\n')
        self.expect('904')
        self.expect('assay> ')
        self.type('SEL\t1 + 600 as x;\n')
        self.expect('601')
        self.expect('assay> ')
        self.type('select repe\t')
        self.expect('tition')
        self.type('\t')
        self.expect('repetition  repetitions')
        self.type('\x15.sch\tterm\n')
        self.expect('log_exponent TEXT')

    def test_interrupt_drops_the_line(self):
        self.start(self.two)
        self.type('select\n')
        self.expect('   ...> ')
        self.type('rubbish')
        self.expect('rubbish')
        self.type('\x03')
        self.expect('assay> ')
        self.type('select 40 + 3;\n')
        self.expect('43')

    def test_interrupt_among_keys_is_never_lost(self):
        """The terminal drops what it holds at Ctrl-C: a key that was announced may be gone before it is read."""
        self.start(self.two)
        for i in range(500):
            for _ in range(1 + i % 40):
                self.type('r')
            self.type('\x03')
            self.expect('assay> ')

    def test_interrupt_stops_the_query(self):
        self.start(self.two)
        self.type('with recursive n(i) as (select 0 union all select i + 1 from n) select count(*) from n;\n')
        time.sleep(0.5)
        self.type('\x03')
        self.expect('assay: sql: interrupted')
        self.expect('assay> ')
        self.type('select 40 + 4;\n')
        self.expect('44')


if __name__ == '__main__':
    unittest.main()
