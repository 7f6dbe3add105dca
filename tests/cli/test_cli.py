"""The command as a whole: help, errors, exit status, colour, input from everywhere, output that is whole or not there."""
import os
import re
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ASSAY, BROKEN, SMALL, Case, environment, main, run, run_on_terminal

VERBS = ['info', 'validate', 'convert', 'formats', 'completion', 'help']


class Help(Case):
    def test_version(self):
        r = run('--version')
        self.assertFine(r)
        self.assertRegex(r.out, r'\Aassay \d+\.\d+\.\d+\n\Z')
        self.assertEqual(r.out, run('info', '-V').out)

    def test_without_arguments_it_is_wrong_usage(self):
        r = run()
        self.assertEqual((2, ''), (r.status, r.out))
        for verb in VERBS:
            self.assertIn(f'\n  {verb} ', r.err)

    def test_help_goes_to_stdout(self):
        whole = run('--help')
        self.assertFine(whole)
        self.assertEqual(whole.out, run('help').out)
        for verb in VERBS:
            r = run(verb, '--help')
            self.assertFine(r)
            self.assertEqual(r.out, run('help', verb).out)
            self.assertEqual(r.out, run('-h', verb).out)
            self.assertIn(f'assay {verb} ', r.out)
            self.assertLessEqual(max(map(len, r.out.split('\n'))), 80)

    def test_unknown_verbs_suggest_the_nearest(self):
        self.assertFails(run('inof'), 2, "'inof'", "did you mean 'info'?")
        self.assertFails(run('convrt', 'a', 'b'), 2, "did you mean 'convert'?")
        self.assertFails(run('help', 'valdate'), 2, "did you mean 'validate'?")
        self.assertFails(run('xyzzy'), 2, "unknown verb 'xyzzy'", 'assay --help')

    def test_unknown_options_suggest_the_nearest(self):
        f = self.write('a.txt', SMALL)
        self.assertFails(run('info', '--jsno', f), 2, 'did you mean --json?')
        self.assertFails(run('validate', f, '--strct'), 2, 'did you mean --strict?')
        self.assertFails(run('info', '--color=blue', f), 2, 'auto|always|never')
        self.assertFails(run('info', '--memory-limit', 'lots', f), 2, '500M')
        self.assertFails(run('completion', '--json', 'bash'), 2, '--json')

    def test_missing_and_surplus_operands(self):
        for verb in ('info', 'validate', 'convert', 'completion'):
            self.assertFails(run(verb), 2, verb)
        self.assertFails(run('help', 'info', 'convert'), 2, 'one verb')
        self.assertFails(run('completion', 'tcsh'), 2, 'bash, zsh, fish')

    def test_options_before_the_verb(self):
        f = self.write('a.txt', SMALL)
        self.assertEqual(run('info', '--json', f).json, run('--json', 'info', f).json)
        self.assertEqual(run('info', '--json', f).json, run('--from', 'extrap-text', '--json', f).json | {'evidence_bits': run('info', '--json', f).json['evidence_bits']})


class Info(Case):
    def test_a_file_without_a_verb_is_shown(self):
        f = self.write('a.txt', SMALL)
        self.assertEqual(run('info', f).out, run(f).out)
        self.assertFine(run(f))
        os.rename(f, self.path('plain'))
        self.assertFine(run('plain', cwd=self.folder))

    def test_card(self):
        self.write('a.txt', SMALL)
        r = run('info', 'a.txt', cwd=self.folder)
        self.assertFine(r)
        lines = r.out.split('\n')
        self.assertRegex(lines[0], r'^a\.txt  Extra-P text  .*\b%d bytes$' % len(SMALL))
        for pattern in (r'parameters +2  p = 1, 2   n = 10, 20$', r'points +4  2 repetitions each$', r'metric +1  time$', r'call paths +2  2 levels, 3 nodes in the tree$', r'values +16$'):
            self.assertTrue(any(re.search(pattern, line) for line in lines), (pattern, r.out))
        self.assertIn('next: assay sql a.txt   |   assay model a.txt\n', r.out)
        with open(self.path('b.folded'), 'w') as f:
            f.write('main;f 3\n')  # of one place there are no statistics
        self.assertIn('next: assay tree b.folded   |   assay top b.folded\n', run('info', 'b.folded', cwd=self.folder).out)
        self.assertNotIn('next:', run('info', '-q', 'a.txt', cwd=self.folder).out)

    def test_json(self):
        f = self.write('a.txt', SMALL)
        r = run('info', '--json', f)
        self.assertFine(r)
        expected = {'file': f, 'format': 'extrap-text', 'format_version': None, 'runs': 8, 'points': 4, 'parameters': ['p', 'n'], 'regions': 3, 'contexts': 3,
                    'locations': 0, 'values': 16, 'events': 0, 'records': 0, 'models': 0, 'problems': []}
        self.assertEqual(expected, {k: v for k, v in r.json.items() if k in expected})
        self.assertEqual([{'name': 'time', 'unit': None}], [{k: m[k] for k in ('name', 'unit')} for m in r.json['metrics']])
        self.assertEqual({'name', 'unit', 'dtype', 'kind'}, set(r.json['metrics'][0]))

    def test_problems_in_json(self):
        f = self.write('a.txt', SMALL.replace('DATA 40 41\n', ''))  # the last point of one call path is missing
        r = run('info', '--json', f)
        self.assertFine(r)
        self.assertEqual(1, len(r.json['problems']))
        p = r.json['problems'][0]
        self.assertEqual({'severity', 'rule', 'file', 'offset', 'line', 'column', 'message'}, set(p))
        self.assertEqual(('warning', 'missing-points', f), (p['severity'], p['rule'], p['file']))

    def test_several_paths(self):
        a, b = self.write('a.txt', SMALL), self.write('b.txt', SMALL)
        r = run('info', '--json', a, b)
        self.assertFine(r)
        self.assertEqual([a, b], [i['file'] for i in r.json])
        r = run('info', '--json', a, self.path('none.txt'), b)
        self.assertEqual(3, r.status)
        self.assertOneLine(r, 'none.txt', 'No such file')
        self.assertEqual([a, b], [i['file'] for i in r.json])
        r = run('info', a, self.path('none.txt'), b)
        self.assertEqual(3, r.status)
        self.assertEqual(2, r.out.count('Extra-P text'))
        self.assertEqual(2, len(run('info', '--jsonl', a, b).out.splitlines()))

    def test_tables(self):
        self.write('a.txt', SMALL)
        lines = run('info', '--csv', 'a.txt', cwd=self.folder).out.split('\n')
        self.assertEqual('file,key,value', lines[0])
        self.assertIn('a.txt,format,extrap-text', lines)
        self.assertIn('a.txt,format_version,', lines)
        self.assertIn('a.txt,parameters,"p, n"', lines)
        self.assertIn('a.txt,values,16', lines)
        self.assertRegex(run('info', '--md', 'a.txt', cwd=self.folder).out, r'\A\| file +\| key +\| value +\|\n\| -+ \| -+ \| -+ \|\n')

    def test_standard_input(self):
        r = run('info', '--json', '-', stdin=SMALL)
        self.assertFine(r)
        self.assertEqual(('<stdin>', 16), (r.json['file'], r.json['values']))
        self.assertFine(run('-', stdin=SMALL))
        self.assertFails(run('info', '-', stdin=''), 3, '<stdin>', 'empty')

    def test_inputs_that_cannot_be_read(self):
        self.assertFails(run('info', self.path('none.txt')), 3, 'none.txt', 'No such file')
        self.assertFails(run('none.txt', cwd=self.folder), 3, 'none.txt', 'No such file')
        self.assertFails(run('info', self.folder), 3, 'directory')
        self.assertFails(run('info', '--from', 'extrap-text', self.folder), 3, 'directory')
        f = self.write('a.txt', SMALL)
        self.assertFails(run('info', f + '/b.txt'), 3, 'Not a directory')
        self.assertFails(run('info', '--from', 'extrap-txt', f), 2, "did you mean 'extrap-text'?")
        self.assertFails(run('info', '-O', 'nothing', f), 2, '=')
        self.assertFails(run('info', '-O', 'nothing=1', f), 2, 'nothing')
        self.assertFails(run('info', self.write('b.txt', BROKEN)), 3, 'b.txt:13:')
        self.assertFails(run('info', self.write('c.txt', 'what is this?\n')), 3, 'c.txt', 'assay formats')

    @unittest.skipIf(os.geteuid() == 0, 'root may read everything')
    def test_without_permission(self):
        f = self.write('a.txt', SMALL)
        os.chmod(f, 0)
        self.assertFails(run('info', f), 3, 'Permission denied')

    def test_a_file_that_shrinks_while_it_is_read(self):
        text = SMALL + ''.join(f'REGION r{i}\nDATA {i} 1\nDATA {i} 2\nDATA {i} 3\nDATA {i} 4\n' for i in range(300000))
        for attempt in range(40):  # to hit the moment takes luck
            f = self.write('big.txt', text)
            p = subprocess.Popen([ASSAY, 'info', '--json', f], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(0.002 * (attempt % 20))
            os.truncate(f, 0)
            err = p.communicate(timeout=60)[1].decode()
            self.assertIn(p.returncode, (0, 3), err)
            if 'changed while' in err:
                self.assertEqual((3, f'assay: {f}: the file changed while it was read; try again\n'), (p.returncode, err))
                return
        self.fail('the file never changed while it was read')

    def test_memory_limit(self):
        f = self.write('a.txt', SMALL)
        self.assertFails(run('info', '--memory-limit', '1K', f), 3, 'memory')
        self.assertFine(run('info', '--memory-limit', '100M', f))

    def test_names_cannot_harm_the_terminal(self):
        f = self.write('a.txt', SMALL.replace('METRIC time', 'METRIC \x1b[31mtime'))
        r = run('info', f)
        self.assertEqual(0, r.status, r)
        self.assertIn('\\x1b[31mtime', r.out)
        self.assertNotIn('\x1b', r.out)
        r = run('info', self.path('\x1b[2Jnone.txt'))
        self.assertOneLine(r)
        self.assertNotIn('\x1b', r.err)


class Terminal(Case):
    def setUp(self):
        super().setUp()
        self.file = self.write('a.txt', SMALL)

    def test_colour_only_on_terminals(self):
        self.assertIn('\x1b[1m', run_on_terminal('info', self.file).out)
        self.assertNotIn('\x1b', run('info', self.file, env=environment(TERM='xterm')).out)

    def test_colour_can_be_refused(self):
        for env in (environment(TERM='dumb'), environment(TERM='xterm', NO_COLOR='1'), environment()):
            self.assertNotIn('\x1b', run_on_terminal('info', self.file, env=env).out)
        self.assertNotIn('\x1b', run_on_terminal('info', '--color', 'never', self.file).out)
        self.assertIn('\x1b[1m', run_on_terminal('info', self.file, env=environment(TERM='xterm', NO_COLOR='')).out)

    def test_colour_can_be_asked_for(self):
        self.assertIn('\x1b[1m', run('info', '--color=always', self.file).out)
        self.assertIn('\x1b[1m', run('info', '--color=always', self.file, env=environment(NO_COLOR='1')).out)

    def test_tables_fit(self):
        for columns in (40, 80, 120):
            r = run_on_terminal('formats', '--color=never', columns=columns)
            self.assertEqual(0, r.status)
            self.assertLessEqual(max(map(len, r.out.split('\n'))), columns, r.out)
        self.assertIn('…', run_on_terminal('formats', '--color=never', columns=60).out)
        self.assertNotIn('…', run('formats').out)
        wide = run_on_terminal('formats', '--color=never', columns=60, env=environment(TERM='xterm', COLUMNS='200'))
        self.assertGreater(max(map(len, wide.out.split('\n'))), 60)


    def show_slowly(self, seconds, *options):
        """info of an input that takes its time."""
        fifo = self.path('fifo')
        os.mkfifo(fifo)

        def feed():
            with open(fifo, 'w') as f:
                time.sleep(seconds)
                f.write(SMALL)

        thread = threading.Thread(target=feed, daemon=True)
        thread.start()
        r = run_on_terminal('info', '--color=never', *options, fifo)
        thread.join()
        self.assertEqual(0, r.status, r)
        return r.out

    def test_progress_of_what_takes_long(self):
        shown = self.show_slowly(0.8)
        self.assertTrue(shown.startswith('\r\x1b[Kreading '), shown)
        self.assertRegex(shown, r'reading [^\n]*fifo 0 s\r\x1b\[K[^\n]*fifo  Extra-P text')  # the line is gone before the answer comes

    def test_no_progress_of_what_is_quick(self):
        self.assertNotIn('reading', self.show_slowly(0))

    def test_no_progress_where_it_is_not_wanted(self):
        self.assertNotIn('reading', self.show_slowly(0.8, '--quiet'))


class Validate(Case):
    def test_sound_file(self):
        r = run('validate', self.write('a.txt', SMALL))
        self.assertFine(r)
        self.assertEqual('1 file: no problems\n', r.out)
        self.assertEqual('', run('validate', '-q', self.path('a.txt')).out)
        self.assertEqual([], run('validate', '--json', self.path('a.txt')).json)

    def test_broken_file(self):
        f = self.write('b.txt', BROKEN)
        r = run('validate', f)
        self.assertEqual((1, ''), (r.status, r.err), r)
        lines = r.out.splitlines()
        self.assertRegex(lines[0], r'^%s:13:\d+: error: .+ \[[a-z-]+\]$' % f)
        self.assertRegex(lines[-1], r'^1 file: \d+ errors?\b')

    def test_every_error_is_found(self):
        f = self.write('b.txt', SMALL.replace('DATA 2 2.5', 'DATA 2 two').replace('DATA 30 31', 'DATA 30 thirty'))
        r = run('validate', '--json', f)
        self.assertEqual(1, r.status, r)
        self.assertEqual([7, 13], [p['line'] for p in r.json if p['severity'] == 'error'], r)
        self.assertEqual({'severity', 'rule', 'file', 'offset', 'line', 'column', 'message'}, set(r.json[0]))

    def test_warnings(self):
        f = self.write('a.txt', SMALL.replace('DATA 40 41\n', ''))
        r = run('validate', f)
        self.assertEqual((0, ''), (r.status, r.err), r)
        self.assertIn('warning: ', r.out)
        self.assertIn('[missing-points]', r.out)
        self.assertIn('1 file: 1 warning\n', r.out)
        self.assertEqual(1, run('validate', '--strict', f).status)

    def test_unreadable(self):
        f = self.write('b.txt', BROKEN)
        r = run('validate', f, self.path('none.txt'))
        self.assertEqual(3, r.status)
        self.assertOneLine(r, 'none.txt')
        self.assertIn('b.txt:13:', r.out)
        self.assertEqual(3, run('validate', self.write('c.txt', 'what is this?\n')).status)
        self.assertEqual(2, run('validate', '--from', 'nothing', f).status)

    def test_a_reader_that_must_stop(self):
        f = self.write('a.jsonl', '{"params": {"p": 1}, "value": 1}\n{"params": {"p": 2}, "val')
        r = run('validate', '--json', '--from', 'extrap-jsonl', f)
        self.assertEqual((1, ''), (r.status, r.err), r)
        self.assertEqual([2], [p['line'] for p in r.json if p['severity'] == 'error'])

    def test_sarif(self):
        self.write('b c.txt', SMALL.replace('DATA 2 2.5', 'DATA 2 two').replace('DATA 30 31', 'DATA 30 thirty'))
        r = run('validate', '--sarif', 'b c.txt', cwd=self.folder)
        self.assertEqual(1, r.status, r)
        self.assertEqual('2.1.0', r.json['version'])
        sarif = r.json['runs'][0]
        rules = [rule['id'] for rule in sarif['tool']['driver']['rules']]
        self.assertEqual(len(set(rules)), len(rules))
        results = [x for x in sarif['results'] if x['level'] == 'error']
        self.assertEqual([7, 13], [x['locations'][0]['physicalLocation']['region']['startLine'] for x in results])
        self.assertEqual([{'executionSuccessful': True}], sarif['invocations'])
        for x in sarif['results']:
            self.assertEqual(rules[x['ruleIndex']], x['ruleId'])
            self.assertEqual('b%20c.txt', x['locations'][0]['physicalLocation']['artifactLocation']['uri'])

    def test_sarif_counts_characters(self):
        record = '{"params":{"p":1},"callpath":"éé","value":"x"}\n'
        r = run('validate', '--sarif', self.write('é.jsonl', record))
        region = r.json['runs'][0]['results'][0]['locations'][0]['physicalLocation']['region']
        self.assertEqual((1, record.index('"x"') + 1), (region['startLine'], region['startColumn']))
        r = run('validate', '--json', self.path('é.jsonl'))
        self.assertEqual(record.encode().index(b'"x"') + 1, r.json[0]['column'])

    def test_some_files_cannot_be_read(self):
        r = run('validate', self.write('a.txt', SMALL), self.path('missing.txt'))
        self.assertEqual((3, '1 file: no problems; 1 could not be read\n'), (r.status, r.out))
        r = run('validate', '--sarif', self.write('a.txt', SMALL), self.path('missing.txt'))
        self.assertEqual((3, [{'executionSuccessful': False}]), (r.status, r.json['runs'][0]['invocations']))

    def test_output_file_also_when_the_check_fails(self):
        f = self.write('b.txt', BROKEN)
        r = run('validate', '--json', '-o', self.path('report.json'), f)
        self.assertEqual((1, '', ''), (r.status, r.out, r.err))
        self.assertIn(b'"severity"', self.read('report.json'))


class Formats(Case):
    def test_table(self):
        r = run('formats', '--json')
        self.assertFine(r)
        formats = {f['name']: f for f in r.json}
        self.assertEqual((True, True), (formats['extrap-text']['reads'], formats['extrap-text']['writes']))
        self.assertIn('.txt', formats['extrap-text']['endings'])
        self.assertIn('values', formats['extrap-text']['holds'])
        self.assertEqual((False, True), (formats['sqlite']['reads'], formats['sqlite']['writes']))
        lines = run('formats', '--csv').out.splitlines()
        self.assertEqual('name,title,reads,writes,endings,holds,options', lines[0])
        self.assertEqual(len(formats), len(lines) - 1)

    def test_one_format(self):
        r = run('formats', 'extrap-3', 'sqlite')
        self.assertFine(r)
        for line in ('title    Extra-P 3 experiment', 'reads    yes', 'writes   no', 'endings  -', 'options  none', 'endings  .sqlite .db'):
            self.assertIn(line + '\n', r.out)
        self.assertRegex(r.out, r'holds +statistics models .*\n')
        [text] = run('formats', '--json', 'extrap-text').json
        self.assertEqual(('extrap-text', ['.txt'], []), (text['name'], text['endings'], text['options']))
        self.assertEqual(2, len(run('formats', '--csv', 'sqlite').out.splitlines()))
        self.assertFails(run('formats', 'sqlite', 'extrap-txt'), 2, "did you mean 'extrap-text'?")
        self.assertEqual('', run('formats', 'sqlite', 'extrap-txt').out)

    def test_names_are_whole_on_a_terminal(self):
        out = run_on_terminal('formats', '--color=never', columns=80).out
        self.assertIn('extrap-experiment ', out)
        self.assertNotIn('…', out)


if __name__ == '__main__':
    main()
