"""Manual pages and completions say what the command takes."""
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run


def verbs():
    return re.findall(r'^  ([a-z]+) ', run('--help').out.split('\nverbs\n')[1].split('\n\n')[0], flags=re.M)


def options(verb):
    """The long options that --help lists."""
    listed = run(verb, '--help').out.split('\noptions\n')[1].split('\nexamples\n')[0]
    return re.findall(r'^  (?:-\w, |    )(--[a-z-]+)', listed, flags=re.M)


class Man(Case):
    def test_every_option_is_in_the_page(self):
        self.assertGreaterEqual(set(verbs()), {'info', 'validate', 'convert', 'formats', 'completion', 'help'})
        for verb in verbs():
            page = run('help', '--man', verb)
            self.assertFine(page)
            text = page.out.replace('\\', '')
            self.assertGreaterEqual(len(options(verb)), 4)
            for option in options(verb):
                self.assertIn(f'*{option}*', text, verb)
            for part in ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXIT STATUS', 'ENVIRONMENT', 'EXAMPLES', 'SEE ALSO'):
                self.assertIn(f'\n# {part}\n', text, verb)
            for example in re.findall(r'^  (assay .*)$', run(verb, '--help').out.split('\nexamples\n')[1], flags=re.M):
                self.assertIn(f'\n{example}\n', page.out)

    def test_main_page_has_every_verb_and_format(self):
        page = run('help', '--man').out.replace('\\', '')
        for verb in verbs():
            self.assertIn(f'*{verb}*\n', page)
        for line in run('formats', '--csv').out.splitlines()[1:]:
            self.assertIn(line.split(',')[0], page)

    @unittest.skipUnless(shutil.which('scdoc'), 'no scdoc')
    def test_scdoc_takes_them(self):
        for verb in ['', *verbs()]:
            source = run('help', '--man', *filter(None, [verb])).out
            p = subprocess.run(['scdoc'], input=source.encode(), capture_output=True)
            self.assertEqual((0, b''), (p.returncode, p.stderr), verb)
            self.assertIn(b'.TH "assay%s" "1"' % (b'-' + verb.encode() if verb else b''), p.stdout.replace(b'\\-', b'-'))
            if shutil.which('man') and shutil.which('groff'):
                p = subprocess.run(['man', '--warnings', '-E', 'UTF-8', '-l', '-'], input=p.stdout, capture_output=True)
                self.assertEqual((0, b''), (p.returncode, p.stderr), verb)


def bash_offers(script, *words):
    """What bash would offer for the last word."""
    p = subprocess.run(['bash', '-c', script + '\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _assay; printf "%s\\n" "${COMPREPLY[@]}"', 'bash', *words],
                       capture_output=True, text=True)
    return set(p.stdout.split('\n')) - {''}


class Completion(Case):
    def test_bash(self):
        script = run('completion', 'bash').out
        path = self.write('assay.bash', script)
        self.assertEqual(0, subprocess.run(['bash', '-n', path]).returncode)
        self.assertGreaterEqual(bash_offers(script, 'assay', ''), set(verbs()))
        self.assertEqual({'convert'}, {w for w in bash_offers(script, 'assay', 'conv') if not os.path.exists(w)})
        for verb in verbs():
            self.assertGreaterEqual(bash_offers(script, 'assay', verb, '--'), set(options(verb)))
        self.assertEqual({'auto', 'always', 'never'}, bash_offers(script, 'assay', 'info', '--color', ''))
        self.assertEqual({'auto'}, bash_offers(script, 'assay', 'info', '--color', '=', 'au'))
        self.assertIn('extrap-text', bash_offers(script, 'assay', 'convert', '--to', ''))
        self.assertIn('sqlite', bash_offers(script, 'assay', 'convert', '--to', ''))
        self.assertNotIn('sqlite', bash_offers(script, 'assay', 'info', '--from', ''))
        self.assertEqual({'fish'}, bash_offers(script, 'assay', 'completion', 'f'))
        self.assertIn(path, bash_offers(script, 'assay', 'info', self.folder + '/'))

    @unittest.skipUnless(shutil.which('zsh'), 'no zsh')
    def test_zsh_syntax(self):
        self.assertEqual(0, subprocess.run(['zsh', '-n', self.write('_assay', run('completion', 'zsh').out)]).returncode)

    @unittest.skipUnless(shutil.which('fish'), 'no fish')
    def test_fish_syntax(self):
        self.assertEqual(0, subprocess.run(['fish', '-n', self.write('assay.fish', run('completion', 'fish').out)]).returncode)

    def test_all_verbs_and_options(self):
        for shell, option in (('zsh', '--%s'), ('fish', '-l %s')):
            script = run('completion', shell)
            self.assertFine(script)
            for verb in verbs():
                for name in options(verb):
                    self.assertIn(option % name[2:], script.out)


if __name__ == '__main__':
    main()
