"""Bad, odd and huge Perun profiles: an error with its place or a warning, never a wrong number, a crash, or more than a little time."""
import json
import os
import resource
import signal
import subprocess
import time

from common import ASSAY, Case, environment, main, run

ROW = '{"uid":"f","type":"mixed","amount":1,"structure-unit-size":2}'
RESOURCES = '{"header":{"type":"mixed","units":{"mixed":"us"}},"resources":[%s]}'
LIMIT = 20  # seconds of a processor, also with ASan; what is quadratic takes minutes


def nested(levels):
    return '{"a":' * levels + '1' + '}' * levels


class Hostile(Case):
    def perf(self, text, name='p.perf'):
        return self.write(name, text)

    def refused(self, text, place, words):
        """One line with the place, whatever is asked; nothing is written."""
        path, out = self.perf(text), self.path('out.perf')
        for args in (('info', path), ('regress', path), ('compare', path, path), ('convert', path, out), ('flame', '--folded', path)):
            result = run(*args)
            self.assertEqual(3, result.status, args)
            self.assertEqual(1, result.err.count('\n'), result.err)
            self.assertRegex(result.err, rf'\Aassay: \S*p\.perf:{place}: .*{words}')
            self.assertFalse(os.path.exists(out))

    def ok(self, *args):
        result = run(*args)
        self.assertEqual(0, result.status, result)
        return result.out

    def problems(self, path):
        answer = json.loads(self.ok('sql', '--json', path, 'select rule, line, "column" as at from problem'))
        return [(p['rule'], p['line'], p['at']) for p in answer]

    def table(self, path, query):
        return self.ok('sql', '--csv', path, query).split('\n')[1:-1]


class BadInput(Hostile):
    def test_trailing_commas(self):
        self.refused('{\n  "origin": "abc",\n  "header": {\n    "type": "memory",\n  }\n}', '4:21', "a comma before '}'")
        self.refused(RESOURCES % (ROW + ','), f'1:{len(RESOURCES) - 2 + len(ROW) - 1}', r"a comma before ']'")

    def test_other_json(self):
        for text, place, words in (('[]', '1:1', 'a profile is a JSON object'), ('{"some": {"other": 1}}', '1:1', 'none of the regions'), ('{}', '1:1', 'none of the regions'),
                                   ('{"global": 3}', '1:12', 'global must be'), ('{"resources": "x"}', '1:15', 'resources must be'), ('{"snapshots": {"a": 1}}', '1:15', 'snapshots must be'),
                                   ('{"snapshots": [1]}', '1:16', 'a snapshot must be'), ('{"resources": [[]]}', '1:16', 'a resource must be'),
                                   ('{"resources": {"t": {"amount": 3}}, "resource_type_map": {"t": {"uid": "f"}}}', '1:32', 'a column must be'),
                                   ('{"resources": {"t": {"amount": [3]}}, "resource_type_map": 7}', '1:60', 'resource_type_map must be'),
                                   ('{"resources": {"t": {"amount": [3]}}, "resource_type_map": {"t": 7}}', '1:66', 'in common must be')):
            self.refused(text, place, words)

    def test_a_header_beyond_the_first_look(self):
        path = self.perf('{"header": {"cmd": "%s"}, "resources": [%s]}' % ('x' * 200000, ROW))
        self.assertEqual(['1'], self.table(path, 'select count(*) from record'))

    def test_regions_twice(self):
        self.refused('{"header": {}, "resources": [], "resources": [%s]}' % ROW, '1:33', 'there before')
        self.refused('{"global": {"resources": [], "resources": []}}', '1:30', 'there')
        self.refused('{"resources": {"t": {"amount": [1], "amount": [2]}}, "resource_type_map": {"t": {}}}', '1:37', 'there before')

    def test_nesting(self):
        for place in ('"uid":%s', '"uid":"f","trace":[%s]', '"uid":"f","type":%s', '"uid":"f","other":%s'):
            self.refused(RESOURCES % '{%s,"amount":1}' % (place % nested(900)), '1:64', 'nested too deep')
            self.refused(RESOURCES % '{%s,"amount":1}' % (place % nested(100000)), r'1:\d+', 'nested deeper than 1024')
        for place in ('"header":%s', '"header":{},"unknown":%s', '"header":{},"models":[{"uid":%s}]'):
            self.refused('{%s,"resources":[]}' % (place % nested(100000)), r'1:\d+', 'nested deeper than 1024')

    def test_wrong_types_are_warned_of(self):
        for text, rule, at in ((RESOURCES % '{"uid":"f","amount":"12ms"}', 'amount-type', 84), (RESOURCES % '{"uid":"f","amount":{"a":1}}', 'amount-type', 84), (RESOURCES % '{"uid":"f","amount":[1]}', 'amount-type', 84),
                               (RESOURCES % '{"uid":"f","amount":1,"trace":"main;f"}', 'trace-type', 64), (RESOURCES % '{"uid":"f","amount":1,"trace":[{"function":"g"},7]}', 'trace-type', 64),
                               (RESOURCES % '{"uid":null,"amount":1}', 'missing-uid', 64), (RESOURCES % '{"amount":1}', 'missing-uid', 64),
                               ('{"header":[1],"resources":[%s]}' % ROW, 'region-type', 11), ('{"header":{"units":[1]},"resources":[%s]}' % ROW, 'region-type', 20),
                               ('{"header":{},"collector_info":[1],"resources":[%s]}' % ROW, 'region-type', 31),
                               ('{"resources":{"t":{"amount":[1,2]}},"resource_type_map":{"t":{"uid":"f","amount":7}}}', 'duplicate-key', 15),
                               ('{"resources":{"t":{"amount":[1,2]}},"resource_type_map":{"t":{"uid":null}}}', 'missing-uid', 15)):
            path = self.perf(text)
            self.assertEqual([(rule, 1, at)], self.problems(path), text)
            self.assertEqual(0, run('info', path).status)

    def test_models_that_are_no_list_are_kept(self):
        path, out = self.perf('{"header":{},"resources":[%s],"models":{"a":[1]}}' % ','.join('{"uid":"f","type":"mixed","amount":%d,"structure-unit-size":%d}' % (x * x, x) for x in range(9))), self.path('out.perf')
        self.ok('convert', path, out)
        with open(out) as f:
            self.assertEqual({'a': [1]}, json.load(f)['models'])
        result = run('regress', path, '-o', out)
        self.assertFails(result, 3, 'models of the profile is no list')

    def test_integers_beyond_64_bits_count(self):
        for value, total in ((2**64, 2.0**64 + 1), (-2**70, -2.0**70), (10**400, float('inf'))):
            path = self.perf(RESOURCES % f'{{"uid":"f","type":"mixed","amount":{value},"structure-unit-size":2}},{ROW}')
            self.assertEqual([str(value), '1'], self.table(path, 'select amount from record'))
            self.assertEqual([total], [float(v) for v in self.table(path, 'select value from value')])
            told = [float(line.split()[1]) for line in run('flame', '--folded', path).out.splitlines()]
            self.assertEqual([] if total == float('inf') else [total], told, 'lines of infinite amounts could not be read')
            self.assertEqual(['number-range'] if value > 2.0**1000 else [], [rule for rule, _, _ in self.problems(path)])

    def test_integers_beyond_64_bits_are_points(self):
        rows = ','.join('{"uid":"f","type":"mixed","amount":%d,"structure-unit-size":%d}' % (3 * 2**66 * x + 2**65, x * 2**66) for x in range(1, 9))
        answer = json.loads(self.ok('regress', '--json', '--models', 'linear', self.perf(RESOURCES % rows)))
        model = answer['models'][0]
        self.assertEqual((2.0**66, 2.0**69), (model['x_start'], model['x_end']))
        self.assertAlmostEqual(3, model['coeffs'][1]['value'], places=12)

    def test_a_plot_of_numbers_of_all_sizes(self):
        rows = ','.join('{"uid":"f","type":"mixed","amount":%d,"structure-unit-size":1e%d}' % (i + 1, 30 * i - 300) for i in range(21))
        for log in ('x', 'xy', 'none'):
            self.assertIn('21 points', self.ok('regress', '--plot', 'f', '--all', '--log', log, self.perf(RESOURCES % rows)))

    def test_keys_that_come_twice_inside_others(self):
        uid = '{"resources":[{"uid":%s,"amount":1,"trace":[{"function":"g"}]}]}'
        for text, n in ((uid % '{"function":"f","line":1,"line":2}', 1), (uid % '{"function":"f","line":1}', 0), ('{"header":{"cmd":"a","cmd":"b"},"resources":[]}', 1),
                        ('{"header":{"units":{"t":"s","t":"ms"}},"resources":[]}', 1), ('{"header":{"units":{"a":"s"},"a":1,"units:a":2},"resources":[]}', 0),
                        ('{"chunks":[{"a":1},{"a":2}],"resources":[]}', 0), ('{"chunks":[{"a":1,"a":2}],"resources":[]}', 1)):
            self.assertEqual(['duplicate-key'] * n, [rule for rule, _, _ in self.problems(self.perf(text))], text)
        self.assertEqual(['f:2'], self.table(self.perf(uid % '{"function":"f","line":1,"line":2}'), 'select uid from record'))

    def test_keys_that_come_twice_inside_models(self):
        for places in ('"resources":[],"models":[%s]', '"global":{"resources":[],"models":[%s]}', '"snapshots":[{"resources":[],"models":[%s]}]'):
            for model, n in (('{"uid":"f","uid":"g"}', 1), ('{"uid":"g","coeffs":{"b0":1,"b0":2}}', 1), ('{"uid":"g","coeffs":{"b0":1},"coeffs":{"b1":2}}', 1),
                             ('{"uid":"g","coeffs":[{"name":"b0","value":1},{"name":"b0","value":2}]}', 1), ('{"uid":"g","uid:x":1,"coeffs":[{"b":1},{"b":2}]}', 0)):
                path = self.perf('{%s}' % (places % model))
                self.assertEqual(['duplicate-key'] * n, [rule for rule, _, _ in self.problems(path)], model)
                self.assertEqual(['g'], self.table(path, 'select uid from stored_model'), model)
        path = self.perf('{"resources":[],\n"models":[{"uid":"g"},\n {"uid":"a","uid":"b","c":{"d":1,"d":2}},{"uid":"g","c":{"x":1},"c":{"y":2}}]}')
        (_, line, column), = self.problems(path)
        self.assertEqual((3, 2), (line, column))
        columns = json.loads(self.ok('sql', '--json', path, 'select * from stored_model where uid = \'g\' and "c:y" = 2'))
        self.assertNotIn('c:x', columns[0], 'nothing is left of the value that does not count')

    def test_columns_that_few_have(self):
        n = 20000
        path = self.perf('{"resources":{%s},"resource_type_map":{%s}}' % (','.join('"t%d#0":{"amount":[1],"c%d":[1]}' % (i, i) for i in range(n)), ','.join('"t%d#0":{"uid":"t%d"}' % (i, i) for i in range(n))))
        self.assertFails(run('info', path), 3, 'thousands of columns')

    def test_columns_of_different_lengths_are_not_paired_wrongly(self):
        path = self.perf('{"resources":{"t":{"amount":[1,2,3],"structure-unit-size":[7]}},"resource_type_map":{"t":{"uid":"f","type":"mixed"}}}')
        self.assertEqual(['1,7', '2,', '3,'], self.table(path, 'select amount, "structure-unit-size" from record'))
        self.assertEqual([('uneven-columns', 1, 15)], self.problems(path))


class Huge(Hostile):
    def quick(self, *args, statuses=(0,)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = run(*args)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertIn(result.status, statuses, result.err)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, LIMIT, args)

    def test_many_broken_pieces(self):
        n = 400000
        for text in ('"resources":[],"models":[%s]', '"snapshots":[%s]', '"resources":[%s]', '"global":{"resources":[%s]}', '"resources":[],"models":[\n%s\n]'):
            path = self.perf('{"header":{},%s}' % (text % ','.join('1' * n)))
            self.quick('validate', path, statuses=(1,))
            self.quick('info', path, statuses=(0, 3))

    def test_many_of_everything(self):
        n = 20000
        profiles = {
            'uids': RESOURCES % ','.join('{"uid":"f%d","type":"mixed","amount":%d,"structure-unit-size":%d}' % (i, i % 7, i % 5) for i in range(n)),
            'types': RESOURCES % ','.join('{"uid":"f","type":"t%d","amount":1}' % i for i in range(n)),
            'keys': RESOURCES % ','.join('{"uid":"f","k%d":1,"amount":1}' % i for i in range(n)),
            'snapshots': '{"header":{},"snapshots":[%s]}' % ','.join('{"time":"%d","resources":[{"uid":"f","amount":1}]}' % i for i in range(n)),
            'new': '{"resources":{%s},"resource_type_map":{%s}}' % (','.join('"f%d#0":{"amount":[1]}' % i for i in range(n)), ','.join('"f%d#0":{"uid":"f%d"}' % (i, i) for i in range(n))),
            'models': '{"resources":[],"models":[%s]}' % ','.join('{"uid":"f%d","model":"linear","coeffs":[{"name":"b0","value":1},{"name":"b1","value":2}],"r_square":0.5,"x_start":1,"x_end":2}' % i for i in range(n)),
            'regions': '{"header":{},%s}' % ','.join('"r%d":1' % i for i in range(n)),
            'trace': RESOURCES % ('{"uid":"f","trace":[%s],"amount":1}' % ','.join('{"function":"g%d"}' % i for i in range(n))),
            'uid': RESOURCES % ('{"uid":{%s},"amount":1}' % ','.join('"k%d":1' % i for i in range(n // 5))),
            'twice': RESOURCES % ('{"uid":"f",%s}' % ','.join('"k":1' for i in range(n)))}
        for name, text in profiles.items():
            path, out = self.perf(text), self.path('out.perf')
            for args in (('info', path), ('tree', path), ('flame', '--folded', path), ('regress', '--json', path), ('regress', '--stored', '--json', path),
                         ('compare', '--check', 'all', '--json', path, path), ('convert', '-O', 'layout=old', path, out), ('convert', '-O', 'layout=new', path, out)):
                with self.subTest(profile=name, args=args):
                    self.quick(*args, statuses=(0, 3) if args[0] == 'tree' else (0,))


    def test_weights_of_a_wide_window_are_made_once(self):
        n = 30000
        path = self.perf('{"resources":{%s},"resource_type_map":{%s}}' % (','.join('"f%d#0":{"amount":[1],"structure-unit-size":[2]}' % i for i in range(n)), ','.join('"f%d#0":{"uid":"f%d"}' % (i, i) for i in range(n))))
        self.quick('regress', '--json', '--moving-average', 'sma', '--window', '1000000', '--window-type', 'hann', path)


class Interrupted(Hostile):
    def taken(self, folder):
        """The files of a folder, which are removed: {name: bytes}."""
        files = {}
        for name in os.listdir(folder):
            with open(f'{folder}/{name}', 'rb') as f:
                files[name] = f.read()
            os.remove(f'{folder}/{name}')
        return files

    def test_no_partial_files(self):
        path, out = self.perf(RESOURCES % ','.join('{"uid":"f%d","type":"mixed","amount":%d,"structure-unit-size":%d}' % (i % 999, i, i) for i in range(200000))), self.path('to')
        os.mkdir(out)
        for args in (('convert', path, '-O', 'layout=new', f'{out}/o.perf'), ('regress', path, '-o', f'{out}/o.perf'), ('compare', path, path, '--all', '-o', f'{out}/o.md', '--junit', f'{out}/o.xml'),
                     ('flame', '--folded', path, '-o', f'{out}/o.txt')):
            self.assertIn(run(*args).status, (0, 1), args)
            whole = self.taken(out)
            self.assertTrue(whole, args)
            for number in (signal.SIGINT, signal.SIGTERM):
                for wait in (0.02, 0.1, 0.2):
                    process = subprocess.Popen([ASSAY, *args], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    time.sleep(wait)
                    process.send_signal(number)
                    status = process.wait(timeout=60)
                    self.assertIn(status, (0, 1, -number, 128 + number), args)
                    # Nothing, or all of it: the signal may come when a file is whole and the command about to end
                    left = self.taken(out)
                    self.assertEqual({name: whole.get(name) for name in left}, left, args)
                    if status in (0, 1):
                        self.assertEqual(set(whole), set(left), args)


if __name__ == '__main__':
    main()
