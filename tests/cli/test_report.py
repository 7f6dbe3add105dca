"""assay report: sizes, what is left out, the same bytes each time, hostile names, and the data inside."""
import base64
import gzip
import html
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from viewer import ASSAY, Refused, Viewer

SOURCE = os.environ.get('ASSAY_SOURCE', '.')


def example(name):
    return os.path.join(SOURCE, 'examples', name)


def page(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def inside(path):
    """The answers, by the names the page knows them by."""
    packed = re.search(r'<script type="application/gzip" id="assay-data">([A-Za-z0-9+/=]*)</script>', page(path)).group(1)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_assay(self, *args, status=0, env=None):
        done = subprocess.run([ASSAY, 'report', *args], capture_output=True, text=True, env={**os.environ, **(env or {})}, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def report(self, *args, name='report.html', env=None):
        path = os.path.join(self.folder, name)
        return path, self.run_assay(*args, '-o', path, env=env).stderr

    def many(self, n=60000):
        """A profile with so many stacks, most of them tiny."""
        path = os.path.join(self.folder, 'many.folded')
        with open(path, 'w', encoding='ascii') as f:
            for i in range(n):
                f.write(f'main;f{i % 40};g{i % 1500};leaf_{i * 7919 % 60013} {100000 if i < 40 else 1 + i % 9}\n')
        return path

    def test_answers_are_those_of_the_viewer(self):
        path, said = self.report(example('heat.cubex'))
        answers = inside(path)
        self.assertEqual(said, '')
        self.assertEqual(answers['report?']['notes'], [])
        with Viewer(example('heat.cubex')) as viewer:
            self.assertEqual(answers['overview?'], viewer.get('overview'))
            self.assertEqual(answers['findings?metric=visits'], viewer.get('findings', metric='visits'))
            self.assertEqual(answers['locations?by=process'], viewer.get('locations', by='process'))
            self.assertEqual(answers['node?context=3'], viewer.get('node', context=3))
            self.assertEqual(answers['flame?view=inverted&width=20000'], viewer.get('flame', view='inverted', width=20000))

    def test_whole_tree_has_the_values_of_tree(self):
        path, _ = self.report(example('heat.cubex'))
        whole = next(answer for name, answer in inside(path).items() if name.startswith('tree?') and 'view=' not in name)
        told = json.loads(subprocess.run([ASSAY, 'tree', example('heat.cubex'), '--json', '--metric', 'time'], capture_output=True, check=True).stdout)
        values = {}

        def walk(node):
            values[node['name']] = values.get(node['name'], 0) + node['values']['time']['exclusive']
            for child in node.get('children', []):
                walk(child)

        walk(told['root'])
        time = [m['name'] for m in whole['metrics']].index('time')
        found = {}
        for name, value in zip(whole['rows']['name'], whole['exclusive'][time]):
            found[name] = found.get(name, 0) + value
        self.assertEqual(found.keys(), values.keys())
        for name, value in values.items():
            self.assertAlmostEqual(found[name], value, places=12, msg=name)

    def test_the_text_says_how_many_functions_are_left_out(self):
        """Twenty are listed; no option of a page shows the others."""
        path = os.path.join(self.folder, 'few.folded')
        with open(path, 'w', encoding='ascii') as f:
            f.writelines(f'main;f{i} {10 if i < 19 else 1}\n' for i in range(29))  # 200 in all
        # main, which has nothing itself, and nine that have 1
        self.assertIn('\n… 10 more, 4.5 % in all\n', html.unescape(page(self.report(path)[0])))

    def test_size_is_never_more_than_asked(self):
        path = self.many()
        left = []
        sums = {}
        with open(path, encoding='ascii') as f:
            for line in f:
                stack, _, n = line.rpartition(' ')
                frames = tuple(stack.split(';'))
                for depth in range(1, len(frames) + 1):
                    sums[frames[:depth]] = sums.get(frames[:depth], 0) + int(n)
        for size in (450000, 600000, 1000000, 5000000):
            out, said = self.report(path, '--max-size', str(size))
            self.assertLessEqual(os.path.getsize(out), size)
            answers = inside(out)
            whole = next(answer for name, answer in answers.items() if name.startswith('tree?') and 'view=' not in name)
            left.append(whole['left_out'])
            self.assertEqual(whole['left_out'] + len(whole['rows']['node']), whole['items'])
            self.assertEqual(bool(whole['left_out']), f'{whole["left_out"]} call paths of many.folded' in said)
            self.assertEqual([note for note in answers['report?']['notes'] if note not in said], [])
            # All that has the share is there, and of the room there is little left
            limit = (whole['min_share'] or 0) * sums['main',]
            self.assertEqual(sum(v >= limit for v in sums.values()), sum(v >= limit for v in whole['inclusive'][0]))
            if whole['left_out']:
                self.assertGreater(os.path.getsize(out), 0.9 * size)
        self.assertEqual(left, sorted(left, reverse=True))
        self.assertGreater(left[0], 0)
        self.assertEqual(left[-1], 0)

    def test_metrics_that_fit(self):
        """Seventy metrics: the report says by name which are not in it."""
        path = os.path.join(self.folder, 'many.txt')
        with open(path, 'w', encoding='ascii') as f:
            f.write('PARAMETER p\nPOINTS 1 2 4 8 16\nREGION main\n')
            for i in range(70):
                f.write(f'METRIC m{i}\n' + ''.join(f'DATA {i + k}\n' for k in range(5)))
        out, said = self.report(path)
        answers = inside(out)
        metrics = answers['report?']['inputs'][0]['metrics']
        self.assertEqual(len(metrics), 64)
        names = [m['name'] for m in answers['inputs?']['inputs'][0]['metrics']]
        left = [name for i, name in enumerate(names) if i not in metrics]
        self.assertIn(f'6 metrics of many.txt: {", ".join(left)}', said)
        self.assertIn(f'scale?limit=0&metric={names[metrics[3]]}', answers)

    def test_formulas(self):
        """Metrics that were derived for the report are in it, and formulas of the file. Their values do not add up: why there is no flame graph is there as the server tells it, and is nothing that was left out."""
        derive = ('--derive', 'share=time/visits')
        out, said = self.report(example('heat.cubex'), *derive)
        self.assertEqual(said, '')
        answers = inside(out)
        names = {m['id']: m['name'] for m in answers['inputs?']['inputs'][0]['metrics']}
        self.assertEqual([names[i] for i in answers['report?']['inputs'][0]['metrics']], ['time', 'visits', 'share', 'bytes_sent', 'bytes_received', 'time_per_visit'])
        whole = next(answer for name, answer in answers.items() if name.startswith('tree?') and 'view=' not in name)
        self.assertEqual([m['name'] for m in whole['metrics']][2], 'share')
        time, visits, share = whole['inclusive'][:3]
        for i, value in enumerate(share):
            self.assertAlmostEqual(value, time[i] / visits[i], places=12)
        with Viewer(example('heat.cubex'), *derive) as viewer:
            with self.assertRaises(Refused) as refused:
                viewer.get('flame', metric='share')
        self.assertEqual(answers['flame?metric=share&width=20000'], json.loads(refused.exception.body))
        self.assertIn('do not add up', refused.exception.message)

    def test_ratios_do_not_say_what_matters(self):
        """Every path has the same ratio: what is left out goes by what adds up."""
        out, _ = self.report(self.many(), '--derive', 'one=samples/samples', '--max-size', '450000')
        whole = next(answer for name, answer in inside(out).items() if name.startswith('tree?') and 'view=' not in name)
        samples = [m['name'] for m in whole['metrics']].index('samples')
        self.assertGreater(whole['left_out'], 0)
        self.assertGreater(whole['min_share'], 0)
        self.assertEqual(sum(v == 100000 for v in whole['exclusive'][samples]), 40)

    def test_same_bytes_each_time(self):
        first, _ = self.report(example('kernels.txt'), example('heat.cubex'), name='a.html')
        for threads in ('1', '7'):
            again, _ = self.report(example('kernels.txt'), example('heat.cubex'), name='b.html', env={'OMP_NUM_THREADS': threads, 'ASSAY_THREADS': threads})
            with open(first, 'rb') as a, open(again, 'rb') as b:
                self.assertTrue(a.read() == b.read())

    def test_names_are_text(self):
        name = '</script><script>alert(1)</script><!--]]>"\''
        path = os.path.join(self.folder, 'x<i>&.folded')
        with open(path, 'wb') as f:
            f.write(f'main,{name} 7\n'.encode() + b'main;\xff\xfe 2\n')
        out, _ = self.report(path, '--title', f'</title>{name}\u2028')
        text = page(out)
        self.assertEqual(len(re.findall(r'<script', text)), 2)
        self.assertEqual(len(re.findall(r'</script', text)), 2)
        self.assertEqual(html.unescape(re.search(r'<title>(.*?)</title>', text, re.S).group(1)), f'</title>{name}\\u2028')
        self.assertIn('<h2>x&lt;i&gt;&amp;.folded</h2>', text)
        self.assertIn('\ufffd', text)
        self.assertIn(f'main,{name}', next(answer for name, answer in inside(out).items() if name.startswith('tree?'))['rows']['name'])

    def test_without_script(self):
        text = page(self.report(example('heat.cubex'))[0])
        summary = html.unescape(re.search(r'<noscript>(.*?)</noscript>', text, re.S).group(1))
        self.assertRegex(summary, r'call paths +19  4 levels')
        self.assertRegex(summary, r'8\.58 63\.6 .* stencil')
        self.assertNotIn('http', re.sub(r'http-equiv', '', text.split('<style>')[0]))

    def test_one_input_cannot_be_read(self):
        bad = os.path.join(self.folder, 'bad.cubex')
        with open(bad, 'w', encoding='ascii') as f:
            f.write('no cube')
        old = os.path.join(self.folder, 'old.html')
        with open(old, 'w', encoding='ascii') as f:
            f.write('old')
        for inputs in ([bad], [example('heat.cubex'), bad], [bad, example('heat.cubex')]):
            done = self.run_assay(*inputs, '-o', old, status=3)
            self.assertRegex(done.stderr, r'\Aassay: [^\n]*bad\.cubex[^\n]*\n\Z')
            self.assertEqual(page(old), 'old', 'a report without an input would be taken for one of all')

    def test_what_breaks_while_it_is_read(self):
        """There is no report then, and the earlier one stays."""
        path, out = os.path.join(self.folder, 'db'), os.path.join(self.folder, 'old.html')
        shutil.copytree(example('heat-hpctoolkit'), path)
        with open(os.path.join(path, 'profile.db'), 'r+b') as f:
            f.seek(os.path.getsize(f.name) // 2)
            f.write(b'\xff' * 200)
        with open(out, 'w', encoding='ascii') as f:
            f.write('old')
        done = self.run_assay(path, '-o', out, status=3)
        self.assertRegex(done.stderr, r'\Aassay: [^\n]*profile\.db[^\n]*\n\Z')
        self.assertEqual(page(out), 'old')

    def test_no_room_leaves_the_earlier_file(self):
        """A page that cannot be: said with the least size, and what was there stays."""
        out = os.path.join(self.folder, 'earlier.html')
        with open(out, 'w', encoding='ascii') as f:
            f.write('earlier')
        for args, words in ((('--max-size', '100kB'), r"--max-size cannot be '100kB'; the least is \d+kB, of which the page itself takes \d+"),
                            (('--max-size', '0'), "--max-size cannot be '0'"),
                            (('--max-size', '400kB', '--title', 'x' * 60000), 'no room for the page and its title')):
            self.assertRegex(self.run_assay(example('heat.cubex'), *args, '-o', out, status=2).stderr, words)
            self.assertEqual(page(out), 'earlier')
        # A summary of many inputs is left out before data is
        out, _ = self.report(*[example('heat.cubex')] * 8, '--max-size', '450kB')
        self.assertLessEqual(os.path.getsize(out), 450000)

    def test_names_that_reorder_text(self):
        """U+202E and its like are escapes wherever people read them, and themselves in the data."""
        name = 'safe\u202egnp.exe\u2066\u061c'
        path = os.path.join(self.folder, 'a\u202eb.folded')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(f'main;{name} 7\n')
        out, _ = self.report(path)
        text = page(out)
        self.assertNotRegex(text, '[\u202e\u2066\u061c]')
        self.assertIn('<title>a\\u202eb.folded</title>', text)
        self.assertIn('safe\\u202egnp.exe\\u2066\\u061c', text)
        self.assertIn(name, next(answer for key, answer in inside(out).items() if key.startswith('tree?'))['rows']['name'])
        for verb in (['flame', '--svg'], ['tree'], ['top'], ['info'], ['tree', '--markdown'], ['sql', '-e', 'select name from region']):
            done = subprocess.run([ASSAY, verb[0], path, *verb[1:]], capture_output=True, text=True, check=False)
            self.assertNotRegex(done.stdout + done.stderr, '[\u202e\u2066\u061c]', verb)
        svg = subprocess.run([ASSAY, 'flame', path, '--svg'], capture_output=True, text=True, check=False).stdout
        self.assertIn('safe\\u202egnp.exe\\u2066\\u061c', svg)
        told = subprocess.run([ASSAY, 'tree', path, '--json'], capture_output=True, text=True, check=True).stdout
        self.assertIn(name, json.dumps(json.loads(told), ensure_ascii=False))

    def test_usage(self):
        self.assertIn('name what to report', self.run_assay(status=2).stderr)
        self.assertIn('--max-size', self.run_assay(example('heat.cubex'), '--max-size', '10kB', '-o', os.path.join(self.folder, 'x'), status=2).stderr)
        self.assertIn('--max-size', self.run_assay(example('heat.cubex'), '--max-size', 'much', '-o', os.path.join(self.folder, 'x'), status=2).stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, 'x')))
        least = re.search(r'the least is (\d+kB)', self.run_assay(example('heat.cubex'), '--max-size', '200kB', '-o', os.path.join(self.folder, 'x'), status=2).stderr).group(1)
        out, _ = self.report(self.many(), '--max-size', least)
        self.assertLessEqual(os.path.getsize(out), int(least[:-2]) * 1000)

    def test_two_inputs_and_standard_input(self):
        out, _ = self.report(example('heat.cubex'), example('heat-2.cubex'))
        answers = inside(out)
        self.assertIn('overview?', answers)
        self.assertIn('overview?d=1', answers)
        with Viewer(example('heat.cubex'), example('heat-2.cubex')) as viewer:
            self.assertEqual(answers['compare?all=20000'], viewer.get('compare', all=2000))
            self.assertEqual(answers['compare?all=20000&metric=visits'], viewer.get('compare', all=2000, metric='visits'))
            self.assertEqual(answers['compare_flame?width=12800'], viewer.get('compare_flame', width=12800))
            self.assertEqual(answers['compare_scatter?kind=inclusive&metric=visits&points=5000'], viewer.get('compare_scatter', kind='inclusive', metric='visits'))
        with open(example('kernels.txt'), 'rb') as f:
            done = subprocess.run([ASSAY, 'report', '-'], stdin=f, capture_output=True, check=True)
        self.assertTrue(done.stdout.startswith(b'<!doctype html>'))


if __name__ == '__main__':
    unittest.main()
