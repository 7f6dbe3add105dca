"""Perun inputs that are nothing, say nothing sensible, or would be too much: one line that says so, and nothing is written or lost."""
import hashlib
import os
import zlib

from common import Case, main, run
from perun_store import Store, details_of, index, profile

A = 'a' * 40
MODEL = '{"uid":"f","model":"linear","r_square":NaN,"coeffs":[{"name":"b0","value":1e999},{"name":"b1","value":-Infinity}],"x_start":1e999,"x_end":NaN}'
ODD_MODELS = '{"header":{"units":{"t":"s"}},"resources":[{"uid":"f","amount":1}],\n"models":[%s]}' % MODEL


class Nothing(Case):
    def test_no_profile(self):
        for text, words in ((b'', 'is empty'), (b'5', 'no format assay knows'), (b'[]', ''), (b'"p"', ''), (b'null', '')):
            path = self.write('p.perf', text)
            for args in (('info', path), ('regress', path), ('compare', path, path), ('flame', '--folded', path), ('convert', path, self.path('out.perf'))):
                self.assertFails(run(*args), 3, 'p.perf', words)
            self.assertFalse(os.path.exists(self.path('out.perf')))
        for text, words in ((b'', 'empty input'), (b'\xef\xbb\xbf', 'empty input'), (b' \n\n', 'empty input'), (b'5', 'a profile is a JSON object'), (b'[1]', 'a profile is a JSON object')):
            self.assertFails(run('info', '--from', 'perun', self.write('p.perf', text)), 3, 'p.perf:', words)


class Numbers(Case):
    def test_models_of_no_numbers(self):
        path = self.write('p.perf', ODD_MODELS)
        problems = run('sql', '--json', path, 'select rule, line, message from problem order by 1').json
        self.assertEqual([('nan', 2, '3'), ('number-range', 2, '2')], [(p['rule'], p['line'], p['message'].split()[0]) for p in problems])
        model, = run('regress', '--stored', '--json', path).json['models']
        self.assertEqual(('nan', 'inf', '-inf'), (model['r_square'], model['coeffs'][0]['value'], model['coeffs'][1]['value']))
        for args in (('regress', '--stored', '--plot-points', '3', path), ('compare', '--check', 'all', path, path), ('compare', path, path), ('info', path), ('tree', path)):
            self.assertEqual(0, run(*args).status, args)
        out = self.path('out.perf')
        self.assertEqual(0, run('convert', path, out).status)
        with open(out, encoding='utf-8') as f:
            self.assertIn(MODEL, f.read(), 'written back as they were')


class Outputs(Case):
    def test_an_input_is_never_written_over(self):
        path, link, hard = self.write('p.perf', ODD_MODELS), self.path('link.perf'), self.path('hard.perf')
        os.symlink('p.perf', link)
        os.link(path, hard)
        for args in (('convert', path, path), ('convert', path, link), ('convert', link, path), ('convert', path, hard), ('convert', path, os.path.join(self.folder, '.', 'p.perf')),
                     ('regress', path, '-o', path), ('regress', '--normalize', path, '-o', hard)):
            self.assertFails(run(*args), 3, 'is an input, too')
            with open(path, encoding='utf-8') as f:
                self.assertEqual(ODD_MODELS, f.read())
        self.assertEqual(['hard.perf', 'link.perf', 'p.perf'], sorted(os.listdir(self.folder)))


class Stores(Case):
    def test_names_that_are_no_utf_8(self):
        store = Store(self.folder)
        data = profile()
        sha = store.add(data)
        store.put(A, index([(1, sha, 'x.perf', details_of(data))]).replace(b'x.perf', b'\xff\xc0.pf').replace(b'./bench', b'./b\xfe\xed\xa0h'))
        info = run('info', '--json', self.folder)
        self.assertEqual(0, info.status, info)
        self.assertEqual(1, info.json['runs'])  # whose JSON a parser takes
        for args in (('info', self.folder), ('sql', '--csv', self.folder, 'select * from attribute'), ('compare', '--series', self.folder)):
            self.assertIn(run(*args).status, (0, 2, 3), args)

    def test_circles(self):
        store = Store(self.folder)
        data = profile()
        sha = store.add(data)
        store.put(A, index([(1, A, 'itself.perf', details_of(data)), (2, 'b' * 40, 'other.perf', details_of(data)), (3, sha, 'x.perf', details_of(data))]))
        store.put('b' * 40, index([(1, A, 'first.perf', details_of(data))]))
        problems = run('sql', '--json', self.folder, 'select rule from problem')
        self.assertEqual(0, problems.status, problems)
        self.assertTrue(problems.json)
        self.assertEqual([2], [r['n'] for r in run('sql', '--json', self.folder, 'select count(*) as n from record').json])

    def test_links_in_a_circle(self):
        store = Store(self.folder)
        store.commit(A, [('x.perf', 1, profile())])
        os.symlink('loop', os.path.join(store.root, 'objects', 'loop'))
        os.symlink('.', os.path.join(store.root, 'objects', 'cc'))
        os.symlink('..', os.path.join(store.root, 'jobs', 'up'))
        os.makedirs(os.path.join(store.root, 'objects', 'dd'))
        os.symlink('d' * 38, store.path('d' * 40))
        self.assertEqual([2], [r['n'] for r in run('sql', '--json', self.folder, 'select count(*) as n from record').json])

    def test_objects_that_grow(self):
        """A quarter of a megabyte that becomes 256 of them."""
        packer = zlib.compressobj(9)
        size = 1 << 28
        head = f'profile mixed {size + 15}\0'.encode() + b'{"header": "'
        packed = packer.compress(head) + b''.join(packer.compress(b' ' * (1 << 20)) for _ in range(size >> 20)) + packer.compress(b'"}') + packer.flush()
        self.assertLess(len(packed), 1 << 19)
        store = Store(self.folder)
        store.commit(A, [('x.perf', 1, profile())])
        store.put(hashlib.sha1(b'bomb').hexdigest(), packed)
        file = self.write('bomb.perf', packed)
        for path in (file, self.folder):
            result = run('info', '--memory-limit', '64M', path)
            self.assertEqual(3, result.status, result)
            self.assertEqual(1, result.err.count('\n'), result.err)
            self.assertIn('memory', result.err)


if __name__ == '__main__':
    main()
