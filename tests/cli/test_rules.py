"""The page of a format lists the rules that its sources can report, and no others.

A rule is what a call has in the place of a parameter `const char *rule`, in the folder of the format; macros hand it on as a parameter `rule`, or behind their named ones.
Tables whose rows begin with a rule say so in their type."""
import os
import re
import unittest

ROOT = os.environ['ASSAY_SOURCE']
FORMATS = {  # folder: its page, and rules by which it is seen that calls are recognised
    'src/formats/hpctoolkit': ('docs/formats/hpctoolkit.md', {'wrong-magic', 'no-id', 'several-runs'}),
    'src/formats/perun': ('docs/formats/perun.md', {'wrong-type', 'missing-region', 'missing-uid', 'store-index', 'object-length'})}
GENERAL = {'io', 'cancelled'}  # of every reader: the file system, the caller


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def sources(folder):
    """{path: text without comments} of a folder and those below it."""
    found = {}
    for place, _, names in os.walk(os.path.join(ROOT, folder)):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), ROOT)
            if name.endswith(('.c', '.h')):
                found[path] = re.sub(r'/\*.*?\*/', ' ', read(path), flags=re.S)
    return found


def arguments(text, start):
    """Those of the call whose first one begins at `start`."""
    out, depth = [''], 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|.', text[start:start + 4000], re.S):
        t = token.group()
        depth += (t in '([{') - (t in ')]}') if len(t) == 1 else 0
        if depth < 0:
            return [a.strip() for a in out]
        if t == ',' and depth == 0:
            out.append('')
        else:
            out[-1] += t
    raise AssertionError('a call without an end: ' + text[start:start + 80])


def calls(text, names):
    for m in re.finditer(r'\b(' + '|'.join(names) + r')\(', text):
        yield m.group(1), arguments(text, m.end())


def positions(texts):
    """{function or macro: where its rule stands}, of those that have one."""
    found = {}
    for text in texts:
        for m in re.finditer(r'\b(\w+)\((?=[^();{]*\bconst char \*rule\b)', text):
            found[m.group(1)] = arguments(text, m.end()).index('const char *rule')
    for text in texts:
        for m in re.finditer(r'#define (\w+)\(([^()]*), \.\.\.\)((?:[^\n]*\\\n)*[^\n]*)', text):
            for name, given in calls(m.group(3), list(found)):
                if given[found[name]:] == ['__VA_ARGS__']:
                    found[m.group(1)] = m.group(2).count(',') + 1
                elif given[found[name]:] == ['rule', '__VA_ARGS__']:
                    found[m.group(1)] = [p.strip() for p in m.group(2).split(',')].index('rule')
    return found


def reported(folder, all_sources):
    """{rule: files}"""
    rules, own = {}, {path: text for path, text in all_sources.items() if path.startswith(folder)}
    where = positions([*own.values(), *(text for path, text in all_sources.items() if path.endswith('.h'))])
    for path, text in own.items():
        for rule in re.findall(r'\.mismatch = "([^"]+)"', text):  # dataset/profile.h
            rules.setdefault(rule, set()).add(os.path.basename(path))
        for table in re.findall(r'struct \{\s*const char \*rule\b[^}]*\} \w+\[[^]]*\] = \{(.*?)\};', text, re.S):
            for rule in re.findall(r'= \{\s*"([^"]+)"', table):
                rules.setdefault(rule, set()).add(os.path.basename(path))
        for name, given in calls(text, list(where)):
            for rule in re.findall(r'"([^"]+)"', given[where[name]]) if len(given) > where[name] else []:
                rules.setdefault(rule, set()).add(os.path.basename(path))
    return rules


def listed(page):
    """What stands in the first column of the tables whose head says rule."""
    tables = re.findall(r'^\| rule \|.*\n\| ---.*\n((?:\|.*\n)+)', read(page), re.M)
    return {rule for table in tables for row in table.splitlines() for rule in re.findall(r'`([^`]+)`', row.split('|')[1])}


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = sources('src')

    def test_every_rule_is_in_the_page(self):
        for folder, (page, some) in FORMATS.items():
            rules = reported(folder, self.sources)
            self.assertTrue(some <= set(rules), 'calls are not recognised')
            missing = sorted(f'{rule} ({", ".join(sorted(files))})' for rule, files in rules.items() if rule not in listed(page) | GENERAL)
            self.assertEqual([], missing, page)

    def test_no_rule_of_the_page_is_unknown(self):
        for page, _ in FORMATS.values():
            self.assertEqual([], sorted(rule for rule in listed(page) if not any(f'"{rule}"' in text for text in self.sources.values())), page)


if __name__ == '__main__':
    unittest.main()
