"""The rules of the house that a compiler does not check: layers only look down, files and functions stay small, some functions are not used."""
import os
import re
import unittest

ROOT = os.environ['ASSAY_SOURCE']
LAYERS = ['core', 'io', 'dataset', 'formats', 'analysis', 'query', 'render', 'api', 'cli', 'server', 'mpi']
MAX_FILE_LINES = 900
MAX_FUNCTION_LINES = 110

NOWHERE = ['strcpy', 'strcat', 'sprintf', 'vsprintf', 'gets', 'atoi', 'atol', 'atoll', 'atof', 'strtok', 'tmpnam', 'mktemp', 'alloca']
# The library never prints, ends the program or changes the locale; numbers go through core/number.h, which has no locale.
NOT_IN_LIBRARY = ['printf', 'vprintf', 'puts', 'putchar', 'perror', 'exit', '_exit', 'abort', 'setlocale', 'strtod', 'strtof', 'signal', 'sigaction']


def sources():
    for folder, _, files in os.walk(os.path.join(ROOT, 'src')):
        for name in sorted(files):
            if name.endswith(('.c', '.h', '.cpp')):
                path = os.path.join(folder, name)
                with open(path, encoding='utf-8') as f:
                    yield os.path.relpath(path, os.path.join(ROOT, 'src')), f.read()


def code_only(text):
    """The text with comments, strings and character constants blanked, lines kept."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.S)


def functions(text):
    """(line, length) of each function: a brace that ends an unindented line opens it, an unindented one closes it."""
    begin = None
    for number, line in enumerate(text.split('\n'), 1):
        if begin is None and re.match(r'[A-Za-z_].*\)[^;=]*\{\s*$', line):
            begin = number
        elif begin is None and re.match(r'\s+[^;{}]*\) \{\s*$', line) and number > 1 and re.match(r'[A-Za-z_][^;{}=]*\(', text.split('\n')[number - 2]):
            begin = number - 1
        elif begin is not None and line.startswith('}'):
            yield begin, number - begin + 1
            begin = None


def calls(text, names):
    for m in re.finditer(r'(?<![\w.>])(' + '|'.join(names) + r')\s*\(', text):
        yield text.count('\n', 0, m.start()) + 1, m.group(1)


class House(unittest.TestCase):
    def check(self, findings):
        self.assertTrue(list(sources()), 'no sources found')
        self.assertEqual([], findings, '\n' + '\n'.join(findings))

    def test_layers_only_look_down(self):
        findings = []
        for path, text in sources():
            layer = path.split(os.sep)[0]
            self.assertIn(layer, LAYERS, f'src/{path}: no such layer')
            for number, line in enumerate(text.split('\n'), 1):
                m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                target = m.group(1).split('/')[0] if m and '/' in m.group(1) else None
                if target in LAYERS and LAYERS.index(target) > LAYERS.index(layer):
                    findings.append(f'src/{path}:{number}: {layer} may not include {m.group(1)}')
        self.check(findings)

    def test_files_are_short(self):
        counted = ((path, text.count('\n')) for path, text in sources())
        self.check([f'src/{path}: {n} lines, more than {MAX_FILE_LINES}' for path, n in counted if n > MAX_FILE_LINES])

    def test_functions_are_short(self):
        found = [(path, line, n) for path, text in sources() for line, n in functions(code_only(text))]
        self.assertGreater(len(found), 30, 'functions are not recognised')
        self.check([f'src/{path}:{line}: a function of {n} lines, more than {MAX_FUNCTION_LINES}' for path, line, n in found if n > MAX_FUNCTION_LINES])

    def test_no_banned_functions(self):
        findings = []
        for path, text in sources():
            banned = NOWHERE if path.startswith(('cli', 'server', 'mpi')) else NOWHERE + NOT_IN_LIBRARY
            findings += [f'src/{path}:{line}: {name}() is not used here' for line, name in calls(code_only(text), banned)]
        self.check(findings)

    def test_the_capture_library_stands_alone(self):
        folder, findings = os.path.join(ROOT, 'capture'), []
        paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(('.c', '.h'))]
        self.assertGreater(len(paths), 5)
        for path in paths + [os.path.join(ROOT, 'include', 'assay', 'capture.h')]:
            with open(path, encoding='utf-8') as f:
                text = f.read()
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
                if name not in ('internal.h', 'assay/capture.h'):
                    findings.append(f'{path}: includes {name}')
            findings += [f'{path}:{line}: a function of {n} lines' for line, n in functions(code_only(text)) if n > MAX_FUNCTION_LINES]
            findings += [f'{path}:{line}: {name}() is not used here' for line, name in calls(code_only(text), NOWHERE)]
        self.assertEqual([], findings)

    def test_the_checks_can_fail(self):
        self.assertEqual([(1, 4)], list(functions('int f(int a) {\n  if (a) {\n  }\n}\n')))
        self.assertEqual([(1, 4)], list(functions('static int f(int a,\n             int b) {\n  return a;\n}\n')))
        self.assertEqual([(2, 'strcpy')], list(calls(code_only('/* strcpy(a) */ x->strcpy(b);\n strcpy(a, "gets(");'), NOWHERE)))


if __name__ == '__main__':
    unittest.main()
