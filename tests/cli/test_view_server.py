"""assay view: who is answered, what can be dropped, and how it ends. What the screens ask for is in test_view_*.py beside this."""
import http.client
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time

from common import Case, main, run
from cubex import small
from viewer import ASSAY, Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
FILTER = os.path.join(EXAMPLES, 'gpu', 'filter.sqlite')


def bundled():
    """Whether this assay has a viewer at all."""
    result = subprocess.run([ASSAY, 'view', '--no-open', '--port', 'x'], capture_output=True, text=True)
    return 'built without' not in result.stderr


class Refusals(Case):
    @classmethod
    def setUpClass(cls):
        cls.viewer = Viewer(FILTER)

    @classmethod
    def tearDownClass(cls):
        cls.viewer.end()

    def status(self, path, **more):
        return self.viewer.ask(path, **more)[0]

    def test_the_token_is_needed_everywhere(self):
        root = self.viewer.root
        wrong = 'f' * 32 if self.viewer.token != 'f' * 32 else '0' * 32
        for path in ('', 'assay.js', 'assay.css', 'api/inputs', 'api/nothing'):
            for bad in ('/', f'/{wrong}/', f'/{self.viewer.token[:-1]}/', f'/{self.viewer.token}0/', '//', f'/{self.viewer.token.upper()}/'):
                if bad.strip('/') == self.viewer.token:  # only digits: the same in upper case
                    continue
                self.assertEqual(403, self.status(bad + path), bad + path)
        self.assertEqual(200, self.status(root + 'api/inputs'))
        self.assertEqual(403, self.status('/favicon.ico'))

    def test_the_token_is_long_and_new_each_time(self):
        with Viewer(FILTER) as other:
            self.assertNotEqual(self.viewer.token, other.token)
            said = other.ask(self.viewer.root + 'api/inputs')[2]
            self.assertIn(b'another at each start; open the one that `assay view` printed', said)
        self.assertRegex(self.viewer.token, r'^[0-9a-f]{32}$')

    def test_host(self):
        path = self.viewer.root + 'api/inputs'
        for host in ('evil.example', f'evil.example:{self.viewer.port}', '127.0.0.1', f'127.0.0.1:{self.viewer.port + 1}', f'127.0.0.1:{self.viewer.port}.evil.example', ''):
            self.assertEqual(403, self.status(path, headers={'Host': host}), host)
        for host in (f'127.0.0.1:{self.viewer.port}', f'localhost:{self.viewer.port}', f'LOCALHOST:{self.viewer.port}'):
            self.assertEqual(200, self.status(path, headers={'Host': host}), host)

    def test_origin(self):
        path = self.viewer.root + 'api/inputs'
        own = f'http://127.0.0.1:{self.viewer.port}'
        for origin in ('null', 'http://evil.example', own + '.evil.example', 'https' + own[4:], 'file://'):
            self.assertEqual(403, self.status(path, headers={'Origin': origin}), origin)
        self.assertEqual(200, self.status(path, headers={'Origin': own}))
        self.assertEqual(403, self.status(path, headers={'Sec-Fetch-Site': 'cross-site'}))
        self.assertEqual(403, self.status(path, headers={'Sec-Fetch-Site': 'same-site'}))
        self.assertEqual(200, self.status(path, headers={'Sec-Fetch-Site': 'same-origin'}))

    def test_methods(self):
        for method in ('PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'FOO'):
            self.assertIn(self.status(self.viewer.root + 'api/inputs', method=method), (400, 403, 405), method)
        self.assertEqual(405, self.status(self.viewer.root + 'api/inputs', method='POST', body=b''))
        self.assertEqual(405, self.status(self.viewer.root + 'api/open'))

    def test_no_way_to_files(self):
        for path in ('../../../etc/passwd', '..%2f..%2fetc/passwd', 'api/../../etc/passwd', '/etc/passwd', '%2e%2e/%2e%2e/etc/passwd', 'index.html/../../x'):
            status, _, body = self.viewer.ask(self.viewer.root + path)
            self.assertNotEqual(200, status, path)
            self.assertNotIn(b'root:', body)

    def test_headers_keep_the_page_to_itself(self):
        for path in ('', 'assay.js', 'api/inputs', 'api/nothing'):
            _, headers, _ = self.viewer.ask(self.viewer.root + path)
            policy = dict(part.strip().split(' ', 1) for part in headers['Content-Security-Policy'].split(';'))
            self.assertEqual("'none'", policy['default-src'])
            self.assertEqual("'self'", policy['script-src'])
            self.assertEqual("'self'", policy['style-src'])
            self.assertEqual("'none'", policy['frame-ancestors'])
            self.assertEqual('nosniff', headers['X-Content-Type-Options'])
            self.assertEqual('no-referrer', headers['Referrer-Policy'])
            self.assertEqual('no-store', headers['Cache-Control'])
            self.assertNotIn('Access-Control-Allow-Origin', headers)

    def test_unknown_endpoint_and_input(self):
        with self.assertRaises(Refused) as caught:
            self.viewer.get('nothing')
        self.assertEqual((404, "there is no 'nothing' here"), (caught.exception.status, caught.exception.message))

    def test_odd_requests(self):
        """None of these ends the server or gets more than a refusal."""
        token = self.viewer.token.encode()
        for text in (b'\r\n\r\n', b'GET\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n', b'\x16\x03\x01\x02\x00\x01\x00', b'GET /' + b'a' * 100000 + b' HTTP/1.1\r\nHost: x\r\n\r\n',
                     b'GET /' + token + b'/api/inputs HTTP/1.1\r\n' + b'X: ' + b'y' * 200000 + b'\r\n\r\n', b'POST /' + token + b'/api/open HTTP/1.1\r\nHost: 127.0.0.1:'
                     + str(self.viewer.port).encode() + b'\r\nContent-Length: 99999999999999999999\r\n\r\n', b'POST /' + token + b'/api/open HTTP/1.1\r\nContent-Length: -1\r\n\r\n'):
            with socket.create_connection((self.viewer.host, self.viewer.port), timeout=10) as connection:
                try:
                    connection.sendall(text)
                    connection.shutdown(socket.SHUT_WR)
                    answer = connection.recv(200)
                except ConnectionError:
                    answer = b''
                self.assertNotIn(b' 200 ', answer[:20])
        self.assertEqual(200, self.status(self.viewer.root + 'api/inputs'))

    def test_parameters_without_a_name(self):
        for path in ('tree?&&', 'tree?=', 'flame?=1&=2', 'timeline?&d=0', 'locations?=metric'):
            self.assertEqual(200, self.viewer.ask(self.viewer.root + 'api/' + path, timeout=20)[0], path)

    def test_many_parameters(self):
        path = self.viewer.root + 'api/inputs?' + '&'.join(f'p{i}=1' for i in range(100000))
        try:
            self.assertIn(self.status(path), (400, 414, 431))
        except (http.client.RemoteDisconnected, ConnectionError):
            pass  # a refusal, too
        self.assertEqual(200, self.status(self.viewer.root + 'api/inputs'))


class Inputs(Case):
    def test_several_and_a_bad_one(self):
        bad = self.write('bad.cubex', b'no measurement at all')
        with Viewer(FILTER, bad) as viewer:
            first, second = viewer.get('inputs')['inputs']
            status, said = viewer.end()
        self.assertEqual(('nsight', 'filter.sqlite', FILTER, None), (first['format'], first['name'], first['path'], first['error']))
        self.assertEqual('unknown-format', second['error']['rule'])
        self.assertEqual(0, status)
        self.assertIn('bad.cubex: is of no format assay knows', said)

    def test_a_name_for_where_we_are(self):
        """ "." is no name: the folder's own is."""
        os.makedirs(self.path('here/app.p1'))
        os.makedirs(self.path('here/app.p2'))
        for p in (1, 2):
            self.write(f'here/app.p{p}/profile.cubex', small())
        with Viewer('.', './', '../here/', 'app.p1/..', cwd=self.path('here')) as viewer:
            self.assertEqual([('.', 'here'), ('./', 'here'), ('../here/', 'here/'), ('app.p1/..', 'here')], [(i['path'], i['name']) for i in viewer.get('inputs')['inputs']])

    def test_a_bad_one_is_dismissed(self):
        bad = self.write('bad.cubex', b'no measurement at all')
        with Viewer(bad, FILTER) as viewer:
            self.assertEqual([1], [i['id'] for i in viewer.post('dismiss', d=0)['inputs']])
            self.assertEqual([1], [i['id'] for i in viewer.get('inputs')['inputs']])
            self.assertGreater(viewer.get('tree', d=1)['items'], 0)
            for params in ({'d': 1}, {}, {'d': 2}, {'d': 'x'}):
                with self.assertRaises(Refused) as caught:
                    viewer.post('dismiss', **params)
                self.assertEqual(400, caught.exception.status, params)
            viewer.post('dismiss', d=0)

    def test_what_is_said_of_an_input(self):
        info = json.loads(run('info', '--json', FILTER).out)
        with Viewer(FILTER) as viewer:
            entry = viewer.get('inputs')['inputs'][0]
        self.assertEqual([(m['name'], m['unit'], m['dtype'], m['kind']) for m in info['metrics']],
                         [(m['name'], m['unit'], m['dtype'], m['kind']) for m in entry['metrics']])
        for key in ('contexts', 'regions', 'locations', 'values', 'events', 'models'):
            self.assertEqual(info[key], entry['has'][key], key)

    def test_nothing_readable(self):
        result = run('view', '--no-open', self.write('bad.cubex', b'nothing'))
        self.assertEqual(3, result.status)
        self.assertEqual(1, result.err.count('\n'), result.err)

    def test_usage(self):
        self.assertEqual(2, run('view', '--port', '65536', FILTER).status)
        self.assertEqual(2, run('view', '--port', 'x', FILTER).status)
        self.assertEqual(2, run('view', '--max-drop', 'x', FILTER).status)
        self.assertEqual(2, run('view', '--listen', 'nowhere', FILTER).status)

    def test_the_port_that_browsers_leave_out(self):
        try:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(('127.0.0.1', 80))
        except OSError as error:
            self.skipTest(f'port 80: {error}')
        with Viewer('--port', '80', FILTER) as viewer:
            path = viewer.root + 'api/inputs'
            for host in ('127.0.0.1', 'localhost', 'Localhost', '127.0.0.1:80'):
                self.assertEqual(200, viewer.ask(path, headers={'Host': host})[0], host)
                self.assertEqual(200, viewer.ask(path, headers={'Host': host, 'Origin': f'http://{host}'})[0], host)
            for host in ('127.0.0.1:', '127.0.0', '127.0.0.1:8', '127.0.0.1:81', 'evil.example', ''):
                self.assertEqual(403, viewer.ask(path, headers={'Host': host})[0], host)

    def test_a_taken_port(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            result = run('view', '--no-open', '--port', str(taken.getsockname()[1]), FILTER)
        self.assertEqual(3, result.status)
        self.assertRegex(result.err, r'cannot listen at 127\.0\.0\.1, port \d+: it is taken; --port names another')

    def test_only_this_machine(self):
        with Viewer(FILTER) as viewer:
            with open('/proc/net/tcp', encoding='ascii') as f:
                addresses = [line.split()[1] for line in f if line.split()[3] == '0A']
            self.assertIn(f'0100007F:{viewer.port:04X}', addresses)
            self.assertFalse([a for a in addresses if a.endswith(f':{viewer.port:04X}') and not a.startswith('0100007F')])

    def test_all_addresses(self):
        """The address to open has the machine's name; whoever comes by an address of the machine says that one."""
        with Viewer('--listen', '0.0.0.0', FILTER) as viewer:
            self.assertEqual(socket.gethostname().lower(), viewer.host)
            viewer.host = '127.0.0.2'
            path = viewer.root + 'api/inputs'
            for host, status in ((f'127.0.0.2:{viewer.port}', 200), (f'{socket.gethostname()}:{viewer.port}', 200), (f'127.0.0.3:{viewer.port}', 403), (f'0.0.0.0:{viewer.port}', 403),
                                 (f'evil.example:{viewer.port}', 403)):
                self.assertEqual(status, viewer.ask(path, headers={'Host': host})[0], host)
            self.assertIn('whoever can reach 0.0.0.0', viewer.end()[1])

    def test_ipv6(self):
        try:
            with socket.create_server(('::1', 0), family=socket.AF_INET6):
                pass
        except OSError:
            self.skipTest('no IPv6 here')
        with Viewer('--listen', '0:0:0:0:0:0:0:1', FILTER) as viewer:
            self.assertTrue(viewer.url.startswith(f'http://[::1]:{viewer.port}/'), viewer.url)
            path = viewer.root + 'api/inputs'
            for host, status in ((f'[::1]:{viewer.port}', 200), (f'::1:{viewer.port}', 403), (f'[::2]:{viewer.port}', 403)):
                self.assertEqual(status, viewer.ask(path, headers={'Host': host})[0], host)

    def test_work_without_end_is_left(self):
        endless = 'with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r'
        temporary = tempfile.mkdtemp(dir=self.folder)
        with Viewer(FILTER, env={'TMPDIR': temporary}) as viewer:
            viewer.post('drop', b'x', drop='a', name='x')
            with socket.create_connection((viewer.host, viewer.port), timeout=10) as connection:
                connection.sendall(f'POST {viewer.root}api/sql HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\nContent-Length: {len(endless)}\r\n\r\n{endless}'.encode())
                time.sleep(0.5)
                begin = time.monotonic()
                self.assertEqual(0, viewer.end()[0])
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual([], os.listdir(temporary))

    def test_signals_end_it(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            viewer = Viewer(FILTER)
            self.assertEqual(0, viewer.end(number)[0])


class Drops(Case):
    def setUp(self):
        super().setUp()
        self.temporary = tempfile.mkdtemp(dir=self.folder)

    def viewer(self, *args):
        return Viewer(*args, env={'TMPDIR': self.temporary})

    def contents(self):
        with open(FILTER, 'rb') as f:
            return f.read()

    def test_a_file(self):
        with self.viewer() as viewer:
            viewer.post('drop', self.contents(), drop='a', name='dropped.sqlite')
            inputs = viewer.post('open', drop='a')['inputs']
            self.assertEqual([('dropped.sqlite', 'nsight', True)], [(i['name'], i['format'], i['is_dropped']) for i in inputs])
            self.assertEqual(inputs, viewer.get('inputs')['inputs'])
            self.assertEqual(1, len(os.listdir(self.temporary)))
            self.assertEqual(0o700, os.stat(os.path.join(self.temporary, os.listdir(self.temporary)[0])).st_mode & 0o777)
            viewer.end()
        self.assertEqual([], os.listdir(self.temporary), 'what was dropped stays behind')

    def test_what_a_killed_viewer_left(self):
        """goes with the first drop of another; that of one that lives stays, and so do others' folders, new ones and files."""
        names = lambda: sorted(n for n in os.listdir(self.temporary))
        with self.viewer() as living, self.viewer() as killed, self.viewer() as viewer:
            living.post('drop', self.contents(), drop='a', name='a.sqlite')
            [kept] = names()
            killed.post('drop', self.contents(), drop='a', name='a.sqlite')
            killed.end(signal.SIGKILL)
            [left] = set(names()) - {kept}
            for name in ('assay-view-others', 'assay-view-recent', 'assayview-XXXXXX'):
                os.mkdir(os.path.join(self.temporary, name), 0o755 if name.endswith('others') else 0o700)
            os.symlink(left, os.path.join(self.temporary, 'assay-view-linked'))
            with open(os.path.join(self.temporary, 'assay-view-a-file'), 'w'):
                pass
            others = set(names()) - {left}
            for name in others | {left}:
                if not name.endswith('recent'):
                    os.utime(os.path.join(self.temporary, name), (0, 0), follow_symlinks=False)
            viewer.post('drop', self.contents(), drop='b', name='b.sqlite')
            self.assertEqual(set(), others - set(names()))
            self.assertNotIn(left, names())
            self.assertEqual('a.sqlite', living.post('open', drop='a')['inputs'][0]['name'])

    def test_a_directory(self):
        source = os.path.join(EXAMPLES, 'gpu', 'bodies')
        with self.viewer() as viewer:
            for folder, _, names in os.walk(source):
                for name in names:
                    with open(os.path.join(folder, name), 'rb') as f:
                        viewer.post('drop', f.read(), drop='b', name=os.path.relpath(os.path.join(folder, name), os.path.dirname(source)))
            dropped = viewer.post('open', drop='b')['inputs'][0]
        with self.viewer(source) as viewer:
            named = viewer.get('inputs')['inputs'][0]
        self.assertEqual((named['format'], named['has'], 'bodies'), (dropped['format'], dropped['has'], dropped['name']))

    def test_directories_of_points_are_one_experiment(self):
        """Who selects all folders of a set instead of the one they are in means the same."""
        source = os.path.join(EXAMPLES, 'gpu', 'bodies')
        with self.viewer(source) as viewer:
            named = viewer.get('inputs')['inputs'][0]
            for folder, _, names in os.walk(source):
                for name in names:
                    with open(os.path.join(folder, name), 'rb') as f:
                        viewer.post('drop', f.read(), drop='p', name=os.path.relpath(os.path.join(folder, name), source))
            inputs = viewer.post('open', drop='p')['inputs']
            self.assertEqual([(named['format'], named['has'], 'bodies')] * 2, [(i['format'], i['has'], i['name']) for i in inputs])
            self.assertEqual([['n', 5]], viewer.post('sql', b'select name, count(distinct value) from parameter join coordinate on parameter = parameter.id group by 1', d=1)['rows'])
            for name in 'a.p4', 'a.p8':  # no measurements of one program, whatever their names are
                viewer.post('drop', self.contents(), drop='q', name=f'{name}/x/y.sqlite')
            self.assertEqual(['a.p4', 'a.p8'], [i['name'] for i in viewer.post('open', drop='q')['inputs']][2:])
            self.assertNotIn(self.temporary, json.dumps(viewer.get('inputs')))

    def test_a_bad_file_says_why(self):
        with self.viewer(FILTER) as viewer:
            viewer.post('drop', b'nothing', drop='c', name='bad.cubex')
            inputs = viewer.post('open', drop='c')['inputs']
            self.assertEqual([None, 'unknown-format'], [i['error'] and i['error']['rule'] for i in inputs])
            self.assertNotIn(self.temporary, json.dumps(inputs), 'where dropped files lie is nobody\'s business')

    def test_nobody_says_where_it_lies(self):
        with open(os.path.join(EXAMPLES, 'heat-2.cubex'), 'rb') as f:
            data = f.read()
        with self.viewer() as viewer:
            viewer.post('drop', data, drop='k', name='heat.cubex')
            viewer.post('drop', b'main;f 1\n' + b'main;\xff 2\n', drop='k', name='a.folded')
            answers = [viewer.post('open', drop='k')]
            for d in 0, 1:
                answers += [viewer.get('overview', d=d), viewer.get('node', d=d, context=0), viewer.post('sql', b'select source from run', d=d),
                            viewer.post('sql', b'select * from problem', d=d), viewer.post('sql', b'select * from attribute', d=d)]
                for path in 'timeline', 'scale':
                    with self.assertRaises(Refused) as caught:
                        viewer.get(path, d=d)
                    answers.append(caught.exception.body.decode())
            self.assertNotIn(self.temporary, json.dumps(answers))
            self.assertEqual([['a.folded']], viewer.post('sql', b'select file from problem', d=0)['rows'])

    def test_files_that_did_not_stay_do_not_count(self):
        """20,000 files may be dropped: those of discarded drops, and those refused, are none of them."""
        with self.viewer('--max-drop', '1M') as viewer:
            connection = http.client.HTTPConnection(viewer.host, viewer.port, timeout=60)
            self.addCleanup(connection.close)

            def post(name, body=b'', /, **params):
                connection.request('POST', viewer.path(name, params), body=body)
                answer = connection.getresponse()
                answer.read()
                return answer.status
            for k in range(21):
                self.assertEqual(200, post('drop', b'x', drop=f'd{k}', name='x'))
                for _ in range(1000):
                    self.assertEqual(400, post('drop', b'x', drop=f'd{k}', name='x'))
                self.assertEqual(200, post('discard', drop=f'd{k}'))
            self.assertEqual(200, post('drop', b'x', drop='last', name='x'))

    def test_names_that_lead_out(self):
        with self.viewer() as viewer:
            for name in ('../x', 'a/../../x', '/x', 'a//b', '.hidden', 'a/.b', '', 'x\\y', 'x\ny', 'a/' * 20 + 'b', 'n' * 300):
                with self.assertRaises(Refused, msg=name) as caught:
                    viewer.post('drop', b'x', drop='d', name=name)
                self.assertEqual(400, caught.exception.status, name)
            for drop in ('..', 'a/b', '', '.x'):
                with self.assertRaises(Refused, msg=drop):
                    viewer.post('drop', b'x', drop=drop, name='x')
                with self.assertRaises(Refused, msg=drop):
                    viewer.post('open', drop=drop)
            self.assertEqual([], [name for _, _, names in os.walk(self.temporary) for name in names])

    def test_a_name_is_taken_once(self):
        with self.viewer() as viewer:
            viewer.post('drop', b'x', drop='e', name='x')
            with self.assertRaises(Refused):
                viewer.post('drop', b'y', drop='e', name='x')

    def test_too_large(self):
        with self.viewer('--max-drop', '1M') as viewer:
            self.assertEqual(1 << 20, viewer.get('inputs')['max_drop'])
            with self.assertRaises((Refused, ConnectionError)) as caught:
                viewer.post('drop', b'x' * ((1 << 20) + 1), drop='f', name='x')
            if isinstance(caught.exception, Refused):
                self.assertEqual(413, caught.exception.status)
                self.assertIn('1 MiB together', caught.exception.message)
            viewer.post('drop', b'x' * 1000000, drop='g', name='x')
            with self.assertRaises(Refused):  # both together
                viewer.post('drop', b'x' * 100000, drop='g', name='y')
            self.assertEqual(['x'], [name for _, _, names in os.walk(self.temporary) for name in names])

    def test_half_a_file_is_none(self):
        with self.viewer() as viewer:
            with socket.create_connection((viewer.host, viewer.port), timeout=10) as connection:
                connection.sendall(f'POST {viewer.root}api/drop?drop=h&name=x HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\nContent-Length: 1000\r\n\r\nhalf'.encode())
                time.sleep(0.3)
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and [n for _, _, names in os.walk(self.temporary) for n in names]:
                time.sleep(0.1)
            self.assertEqual([], [n for _, _, names in os.walk(self.temporary) for n in names])

    def test_only_what_has_come_is_opened(self):
        with self.viewer() as viewer:
            with socket.create_connection((viewer.host, viewer.port), timeout=10) as connection:
                connection.sendall(f'POST {viewer.root}api/drop?drop=i&name=a;b HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\nContent-Length: 8\r\n\r\nmain;'.encode())
                time.sleep(0.3)
                with self.assertRaisesRegex(Refused, 'still on their way'):
                    viewer.post('open', drop='i')
                connection.sendall(b'f 1')
                self.assertIn(b' 200 ', connection.recv(100))
            self.assertEqual(['a;b'], [i['name'] for i in viewer.post('open', drop='i')['inputs']])

    def test_a_drop_is_opened_once(self):
        with self.viewer() as viewer:
            viewer.post('drop', self.contents(), drop='j', name='x.sqlite')
            viewer.post('open', drop='j')
            with self.assertRaisesRegex(Refused, 'opened already'):
                viewer.post('open', drop='j')
            with self.assertRaisesRegex(Refused, 'opened already'):
                viewer.post('drop', b'more', drop='j', name='y')
            self.assertEqual(1, len(viewer.get('inputs')['inputs']))


class Crowds(Case):
    def test_slow_ones_hold_up_nobody(self):
        """Thirty who never finish their request, and thirty who never take their answer."""
        with Viewer(FILTER) as viewer:
            held = []
            head = f'GET {viewer.root}api/inputs HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\n'
            for i in range(60):
                connection = socket.create_connection((viewer.host, viewer.port), timeout=10)
                connection.sendall(head.encode() if i % 2 else head.encode() + b'\r\n')
                held.append(connection)
            start = time.monotonic()
            for _ in range(20):
                viewer.get('inputs')
            self.assertLess(time.monotonic() - start, 20)
            for connection in held:
                connection.close()

    def test_many_at_once_get_the_same(self):
        with Viewer(FILTER) as viewer:
            expected, answers = viewer.get('inputs'), []
            threads = [threading.Thread(target=lambda: answers.append(viewer.get('inputs'))) for _ in range(32)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual([expected] * 32, answers)


if __name__ == '__main__':
    if not bundled():
        print('this assay was built without its viewer')
        raise SystemExit(77)
    main()
