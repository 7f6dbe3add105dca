"""assay view under attack: crowds, clients that dribble or never read, numbers that are none, paths that lead elsewhere. Who is answered at all is in test_view_server.py."""
import http.client
import json
import os
import re
import resource
import shutil
import socket
import tempfile
import time

from common import Case, main
from viewer import is_sanitized, Refused, Viewer

SOURCE = os.environ['ASSAY_SOURCE']
EXAMPLES = os.path.join(SOURCE, 'examples')
FILTER = os.path.join(EXAMPLES, 'gpu', 'filter.sqlite')
PATIENCE = 20 if is_sanitized() else 10  # less than the 30 s after which a connection that says nothing ends
LONG = "with recursive r(x) as (select 1 union all select x + 1 from r limit 80) select x, printf('%.*c', 50000, 'x') from r"


class Crowds(Case):
    """None of these keeps others from being answered at once."""

    def setUp(self):
        super().setUp()
        self.viewer = Viewer(FILTER)
        self.addCleanup(self.viewer.end)
        self.held = []
        self.addCleanup(lambda: [connection.close() for connection in self.held])
        self.host = f'Host: 127.0.0.1:{self.viewer.port}\r\n'

    def connect(self, text=b'', room=None):
        connection = socket.socket()
        if room:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        connection.settimeout(10)
        connection.connect((self.viewer.host, self.viewer.port))
        self.held.append(connection)
        if text:
            connection.sendall(text)
        return connection

    def assert_answered(self):
        for _ in range(3):
            begin = time.monotonic()
            self.assertEqual(1, len(self.viewer.get('inputs')['inputs']))
            self.assertLess(time.monotonic() - begin, PATIENCE)

    def n_open(self):
        """How many of the held connections are not closed by the server."""
        n = 0
        for connection in self.held:
            connection.setblocking(False)
            try:
                n += len(connection.recv(1)) > 0
            except BlockingIOError:
                n += 1
            except OSError:
                pass
        return n

    def test_idle_ones(self):
        for _ in range(300):
            self.connect()
        self.assert_answered()
        self.assertLessEqual(self.n_open(), 128)

    def test_heads_that_never_end(self):
        for i in range(300):
            self.connect(f'GET {self.viewer.root}api/inputs HTTP/1.1\r\n{self.host}X-{i}: y'.encode())
        self.assert_answered()
        for connection in self.held:
            try:
                connection.sendall(b'y')
            except OSError:
                pass
        self.assert_answered()

    def test_bodies_that_never_end(self):
        """Of people with the token."""
        for i in range(300):
            self.connect(f'POST {self.viewer.root}api/drop?drop=a{i}&name=x HTTP/1.1\r\n{self.host}Content-Length: 1000000\r\n\r\nhalf'.encode())
        self.assert_answered()

    def test_wrong_tokens(self):
        for _ in range(300):
            self.connect(f'GET /wrong/ HTTP/1.1\r\n{self.host}\r\n'.encode())
        self.assert_answered()

    def test_who_is_known_keeps_the_place(self):
        known = http.client.HTTPConnection(self.viewer.host, self.viewer.port, timeout=10)
        self.addCleanup(known.close)

        def ask():
            known.request('GET', self.viewer.root + 'api/inputs')
            answer = known.getresponse()
            return answer.status, len(answer.read()) > 0
        self.assertEqual((200, True), ask())
        before = known.sock
        for _ in range(300):
            self.connect()
        time.sleep(0.2)
        self.assertEqual((200, True), ask())
        self.assertIs(before, known.sock, 'it had to connect again')

    def test_a_statement_goes_on_in_a_crowd(self):
        """Who is being answered keeps the place."""
        statement = 'with recursive r(x) as (select 1 union all select x + 1 from r limit 3000000) select count(*) from r'
        asking = self.connect(f'POST {self.viewer.root}api/sql HTTP/1.1\r\n{self.host}Content-Length: {len(statement)}\r\n\r\n{statement}'.encode())
        time.sleep(0.1)
        for _ in range(300):
            self.connect()
        asking.settimeout(30)
        answer = b''
        while b'3000000' not in answer:
            part = asking.recv(1000)
            self.assertTrue(part, answer)
            answer += part

    def test_answers_that_nobody_takes(self):
        """Eighty of 4 MB each: those who do not read lose theirs, not those who come."""
        body = LONG.encode()
        for _ in range(80):
            connection = self.connect(f'POST {self.viewer.root}api/sql HTTP/1.1\r\n{self.host}Content-Length: {len(body)}\r\n\r\n'.encode() + body, room=4096)
            connection.settimeout(30)
            self.assertEqual(b'HTTP/1.1 200', connection.recv(12))
        self.assert_answered()
        self.assertEqual(80, self.viewer.post('sql', body)['n'])
        if not is_sanitized():
            self.assertLess(self.viewer.peak_memory(), 180 << 20)
        self.assertGreater(self.n_open(), 8, 'those who came last still have theirs')

    def test_many_questions_keep_little(self):
        """What is made for one choice is kept for the next time, up to a limit."""
        with Viewer(os.path.join(EXAMPLES, 'heat-hpctoolkit'), os.path.join(EXAMPLES, 'heat.cubex')) as viewer:
            for i in range(100):
                viewer.get('tree', d=i % 2, match=f'w{i}')
            before = viewer.peak_memory()
            for i in range(1500):
                viewer.get('tree', d=i % 2, match=f'word{i}', limit=1 + i % 200)
                viewer.get('flame', d=i % 2, match=f'word{i}', width=300 + i)
                if i % 50 == 0:
                    viewer.get('tree', d=i % 2, location=f'rank={i // 50 % 4}')
            grown = viewer.peak_memory() - before
        if not is_sanitized():
            self.assertLess(grown, 100 << 20)

    def test_pipelined(self):
        asked = f'GET {self.viewer.root}api/inputs HTTP/1.1\r\n{self.host}'
        connection = self.connect(f'{asked}\r\n'.encode() * 499 + f'{asked}Connection: close\r\n\r\n'.encode())
        answers = b''
        while part := connection.recv(1 << 16):
            answers += part
        self.assertEqual(500, answers.count(b'HTTP/1.1 200'))


class Requests(Case):
    @classmethod
    def setUpClass(cls):
        cls.viewer = Viewer(os.path.join(EXAMPLES, 'heat-hpctoolkit'), os.path.join(EXAMPLES, 'heat.cubex'), os.path.join(EXAMPLES, 'kernels.txt'), FILTER)

    @classmethod
    def tearDownClass(cls):
        status, said = cls.viewer.end()
        assert status == 0, said

    def raw(self, text):
        """The first bytes of the answer to any bytes; none where it waits for more."""
        with socket.create_connection((self.viewer.host, self.viewer.port), timeout=1) as connection:
            try:
                connection.sendall(text)
                return connection.recv(4000)
            except (ConnectionError, TimeoutError):
                return b''

    def endpoints(self):
        """Each GET of docs/viewer-api.md with its parameters."""
        with open(os.path.join(SOURCE, 'docs', 'viewer-api.md'), encoding='utf-8') as f:
            found = re.findall(r'^\| `GET api/(\w+)(?:\?([^`]*))?`', f.read(), re.M)
        parameters = {name: listed.split('&') if listed else [] for name, listed in found}
        for name, listed in parameters.items():
            if listed[:1] == ['…']:
                parameters[name] = parameters['scale'] + listed[1:]
        return parameters

    def test_every_parameter_of_every_request(self):
        endpoints = self.endpoints()
        self.assertGreater(len(endpoints), 18)
        self.assertIn('whole', endpoints['tree'])
        numbers = ['NaN', 'inf', '-inf', '1e999', '-1', '18446744073709551616', '9223372036854775807', '4294967295', '4294967296', '-9223372036854775808', '0x10', '1e3', '1e-999', '', ' ', '0,0', ',',
                   '\0', '%', 'ä' * 3000, '/(/', '/((((((((a*)*)*)*)*)*)*)*b/', '../../../../etc/passwd', '<script>', "' or 1=1 --", '--help', '*', '=x', '[']
        answered = 0
        for name, parameters in endpoints.items():
            for parameter in parameters:
                for i, value in enumerate(numbers):
                    path = self.viewer.path(name, {**({'d': i % 4} if 'd' in parameters else {}), parameter: value})
                    begin = time.monotonic()
                    status, headers, body = self.viewer.ask(path)
                    self.assertIn(status, (200, 400, 422), f'{path}: {body[:300]}')
                    self.assertLess(time.monotonic() - begin, 2 * PATIENCE, path)
                    self.assertTrue(headers['Content-Type'].startswith('application/json'))
                    answer = json.loads(body)
                    self.assertNotIn('root:x', body.decode())
                    if status != 200:
                        self.assertTrue(answer['error'].strip(), path)
                        self.assertNotIn('\n', answer['error'].strip(), path)
                    answered += status == 200
        self.assertGreater(answered, 100)

    def test_the_path(self):
        root = self.viewer.root
        host = f'Host: 127.0.0.1:{self.viewer.port}\r\n'
        for path in (f'{root}%', f'{root}%zz', f'{root}%4', f'{root}api/%00inputs', f'{root}api/inputs%00.js', f'{root}api//inputs', f'{root}api/inputs/', f'{root}api/./inputs', f'{root}assay.js/..',
                     f'{root}api', f'{root}%2e%2e/%2e%2e/etc/passwd', f'/.{root}', f'//{root}', f'/%2f{root[1:]}', f'/x{root}', f'{root[:-1]}%00/', f'http://evil.example{root}', '*', '', '/'):
            answer = self.raw(f'GET {path} HTTP/1.1\r\n{host}\r\n'.encode())
            self.assertNotIn(b' 200 ', answer[:20], path)
            self.assertNotIn(b'root:', answer)

    def test_the_token_is_nowhere_else(self):
        token, host = self.viewer.token, f'Host: 127.0.0.1:{self.viewer.port}\r\n'
        for head in (f'GET /?token={token} HTTP/1.1\r\n{host}', f'GET / HTTP/1.1\r\n{host}Cookie: token={token}\r\n', f'GET / HTTP/1.1\r\n{host}Authorization: Bearer {token}\r\n',
                     f'GET /x/ HTTP/1.1\r\n{host}Referer: http://127.0.0.1:{self.viewer.port}/{token}/\r\n'):
            self.assertIn(b' 403 ', self.raw(f'{head}\r\n'.encode())[:20])

    def test_host_of_old_and_odd_clients(self):
        port, root = self.viewer.port, self.viewer.root
        good = f'Host: 127.0.0.1:{port}\r\n'
        self.assertIn(b' 200 ', self.raw(f'GET {root}api/inputs HTTP/1.0\r\n{good}\r\n'.encode())[:20])
        for head in (f'GET {root}api/inputs HTTP/1.0\r\n', f'GET {root}api/inputs HTTP/1.1\r\n', f'GET {root}api/inputs HTTP/1.1\r\nHost: evil.example:{port}\r\n{good}',
                     f'GET {root}api/inputs HTTP/1.1\r\nHost: 127.0.0.1:{port}@evil.example\r\n', f'GET {root}api/inputs HTTP/1.1\r\nHost: 127.0.0.1.evil.example:{port}\r\n',
                     f'GET {root}api/inputs HTTP/1.1\r\nHost: 127.1:{port}\r\n', f'GET {root}api/inputs HTTP/1.1\r\nHost: [::ffff:127.0.0.1]:{port}\r\n',
                     f'GET {root}api/inputs HTTP/1.1\r\n{good}Origin: http://evil.example\r\n', f'POST {root}api/open?drop=x HTTP/1.1\r\n{good}Origin: null\r\nContent-Length: 0\r\n',
                     f'GET {root}api/inputs HTTP/0.9\r\n{good}', f'GET {root}api/inputs HTTP/3.0\r\n{good}'):
            self.assertNotIn(b' 200 ', self.raw(f'{head}\r\n'.encode())[:20], head)

    def test_heads_and_bodies_that_are_none(self):
        root, good = self.viewer.root, f'Host: 127.0.0.1:{self.viewer.port}\r\n'
        for text in (f'GET {root}api/inputs HTTP/1.1\r\n{good}' + ''.join(f'X-{i}: {i}\r\n' for i in range(20000)) + '\r\n', f'GET {root}api/inputs HTTP/1.1\r\n{good}{"N" * 100000}: 1\r\n\r\n',
                     f'POST {root}api/sql HTTP/1.1\r\n{good}Transfer-Encoding: chunked\r\n\r\nzz\r\nselect 1\r\n0\r\n\r\n',
                     f'POST {root}api/sql HTTP/1.1\r\n{good}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n', f'POST {root}api/sql HTTP/1.1\r\n{good}Content-Length: 1e3\r\n\r\nselect 1',
                     f'POST {root}api/sql HTTP/1.1\r\n{good}Content-Length: 300000\r\n\r\n' + 'x' * 300000, f'{root} GET HTTP/1.1\r\n{good}\r\n', '\0' * 5000, 'GET ' * 5000):
            self.assertNotIn(b' 200 ', self.raw(text.encode())[:20], text[:100])
        self.assertEqual(4, len(self.viewer.get('inputs')['inputs']))

    def test_heads_that_contradict_themselves(self):
        """Two programs could read them in two ways; RFC 9112, sections 3.2, 5.1, 6.1 and 6.3, has servers refuse them."""
        root, good = self.viewer.root, f'Host: 127.0.0.1:{self.viewer.port}\r\n'
        asked, chunks = f'POST {root}api/sql HTTP/1.1\r\n{good}', '8\r\nselect 1\r\n0\r\n\r\n'
        length, chunked = 'Content-Length: 8\r\n', 'Transfer-Encoding: chunked\r\n'
        self.assertIn(b' 200 ', self.raw(f'{asked}{length}\r\nselect 1'.encode())[:20])
        for text in (f'{asked}{length}{length}\r\nselect 1', f'{asked}{length}Content-Length: 9\r\n\r\nselect 12', f'{asked}content-length: 9\r\n{length}\r\nselect 12',
                     f'{asked}Content-Length: 8, 8\r\n\r\nselect 1', f'{asked}Content-Length: +8\r\n\r\nselect 1', f'{asked}Content-Length : 8\r\n\r\nselect 1',
                     f'{asked}{length}{chunked}\r\n{chunks}', f'{asked}{chunked}{length}\r\n{chunks}', f'{asked}{chunked}{chunked}\r\n{chunks}', f'{asked}Transfer-Encoding: gzip, chunked\r\n\r\n{chunks}',
                     f'{asked}Transfer-Encoding: xchunked\r\n\r\n{chunks}', f'{asked}Transfer-Encoding: identity\r\n{length}\r\nselect 1', f'{asked.replace("1.1", "1.0", 1)}{chunked}\r\n{chunks}',
                     f'{asked}{chunked}\r\n0x8\r\nselect 1\r\n0\r\n\r\n', f'{asked}{chunked}\r\n-8\r\nselect 1\r\n0\r\n\r\n', f'{asked}{chunked}\r\n8\r\nselect 123\r\n0\r\n\r\n',
                     f'{asked}{good}{length}\r\nselect 1', f'{asked}Host: evil.example\r\n{length}\r\nselect 1', f'{asked}Origin: http://127.0.0.1:{self.viewer.port}\r\nOrigin: http://evil.example\r\n{length}\r\nselect 1',
                     f'{asked}Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n{length}\r\nselect 1'):
            answer = self.raw(f'{text}GET {root}api/inputs HTTP/1.1\r\n{good}\r\n'.encode())
            self.assertIn(b' 400 ', answer[:20], text)
            self.assertNotIn(b' 200 ', answer, text)
        self.assertIn(b' 403 ', self.raw(f'POST {root}api/sql HTTP/1.1\r\n{length}\r\nselect 1'.encode())[:20])

    def send_endlessly(self, head, part, most=64 << 20):
        """Sends the head, then the part again and again; what comes back, and how much it took."""
        sent = 0
        with socket.create_connection((self.viewer.host, self.viewer.port), timeout=PATIENCE) as connection:
            try:
                connection.sendall(head.encode())
                while sent < most:
                    connection.sendall(part)
                    sent += len(part)
            except ConnectionError:
                pass
            try:
                return connection.recv(4000), sent
            except ConnectionError:
                return b'', sent

    def test_bodies_without_end(self):
        """In chunks or with a length, also where nobody takes a body: cut off with a status that says so, and nothing is kept of them."""
        root, good, before = self.viewer.root, f'Host: 127.0.0.1:{self.viewer.port}\r\n', self.viewer.peak_memory()
        plain = b'x' * 65536
        chunk = b'10000\r\n' + plain + b'\r\n'
        for method, path in (('POST', 'api/sql'), ('POST', 'api/open?drop=x'), ('POST', 'api/nothing'), ('GET', 'api/inputs'), ('GET', ''), ('GET', 'assay.js'), ('HEAD', 'api/inputs')):
            for header, part in (('Transfer-Encoding: chunked', chunk), ('Content-Length: 9000000000000000000', plain), ('Content-Length: 20000000', plain)):
                answer, sent = self.send_endlessly(f'{method} {root}{path} HTTP/1.1\r\n{good}{header}\r\n\r\n', part)
                self.assertIn(b' 413 ', answer[:20], (method, path, header))
                if b'application/json' in answer:  # not one of libmicrohttpd's own
                    self.assertIn(b"\r\nContent-Security-Policy: default-src 'none';", answer)
                self.assertLess(sent, 32 << 20, 'what the system holds on the way, and 1 MiB')
                if method != 'HEAD':
                    self.assertIn('too long', json.loads(answer.split(b'\r\n\r\n')[1])['error'])
        if not is_sanitized():
            self.assertLess(self.viewer.peak_memory() - before, 16 << 20)
        self.assertEqual(4, len(self.viewer.get('inputs')['inputs']))

    def test_a_long_body_hears_why(self):
        for size in ((128 << 10) + 1, 1 << 20):
            with self.assertRaises(Refused) as caught:
                self.viewer.post('sql', b'x' * size)
            self.assertEqual((413, 'the request is too long; it may have 128 KiB'), (caught.exception.status, caught.exception.message))

    def test_chunked_bodies_are_bodies(self):
        root, good = self.viewer.root, f'Host: 127.0.0.1:{self.viewer.port}\r\n'
        answer = self.raw(f'POST {root}api/sql HTTP/1.1\r\n{good}Transfer-Encoding: chunked\r\n\r\n4\r\nsele\r\n5\r\nct 41\r\n0\r\n\r\n'.encode())
        self.assertIn(b'[[41]]', answer)


class Files(Case):
    def setUp(self):
        super().setUp()
        self.temporary = tempfile.mkdtemp(dir=self.folder)

    def viewer(self, *args):
        return Viewer(*args, env={'TMPDIR': self.temporary})

    def test_a_thousand_dropped_files(self):
        with self.viewer() as viewer:
            connection = http.client.HTTPConnection(viewer.host, viewer.port, timeout=60)
            begin = time.monotonic()
            for i in range(1000):
                connection.request('POST', viewer.path('drop', {'drop': 'a', 'name': f'all/{i}.folded'}), body=f'main;f{i} 1\n')
                answer = connection.getresponse()
                self.assertEqual((200, b'{}\n'), (answer.status, answer.read()))
            connection.close()
            inputs = viewer.post('open', drop='a')['inputs']
            self.assertLess(time.monotonic() - begin, 9 * PATIENCE)
            self.assertEqual(1, len(inputs), 'a folder is one input')
            self.assertEqual(0, viewer.end()[0])
        self.assertEqual([], os.listdir(self.temporary))

    def test_limits_hold_for_many_at_once(self):
        """Each fits, all of them do not; what was refused leaves nothing, and what is left may still come."""
        with self.viewer('--max-drop', '1M') as viewer:
            taken = 0
            for i in range(8):
                try:
                    viewer.post('drop', b'x' * 200000, drop='b', name=f'{i}')
                    taken += 1
                except Refused as refused:
                    self.assertEqual(413, refused.status)
                    self.assertIn('may have 1 MiB together', refused.message)
            self.assertEqual(5, taken)
            viewer.post('drop', b'x' * 40000, drop='b', name='small')
            sizes = sorted(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(self.temporary) for name in names)
            self.assertEqual([40000] + [200000] * 5, sizes)

    def kept(self):
        return [name for _, _, names in os.walk(self.temporary) for name in names]

    def test_drops_without_end(self):
        """Chunks have no length to be refused for: they come until the limit, and nothing stays."""
        with self.viewer('--max-drop', '3M') as viewer, socket.create_connection((viewer.host, viewer.port), timeout=PATIENCE) as connection:
            connection.sendall(f'POST {viewer.root}api/drop?drop=a&name=x HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\nTransfer-Encoding: chunked\r\n\r\n'.encode())
            with self.assertRaises(ConnectionError):
                for _ in range(1000):
                    connection.sendall(b'10000\r\n' + b'x' * 65536 + b'\r\n')
            answer = connection.recv(4000)
            self.assertIn(b' 413 ', answer[:20])
            self.assertIn(b'may have 3 MiB together', answer)
            self.assertEqual([], self.kept())
            viewer.post('drop', b'x' * 3000000, drop='b', name='x')

    def test_a_full_disk(self):
        """Files that cannot grow stand for it: the system refuses to write in the same way."""
        with self.viewer(FILTER) as viewer:
            viewer.post('drop', b'x' * 300000, drop='a', name='all/1')
            resource.prlimit(viewer.process.pid, resource.RLIMIT_FSIZE, (400000, 400000))
            with self.assertRaises(Refused) as caught:
                viewer.post('drop', b'x' * 2000000, drop='a', name='all/2')
            self.assertEqual((507, 'cannot keep the dropped file: File too large; name it behind `assay view` instead'), (caught.exception.status, caught.exception.message))
            self.assertEqual(['1'], self.kept(), 'half a file stays')
            viewer.post('discard', drop='a')
            self.assertEqual([], self.kept())
            self.assertEqual([], [n for _, names, _ in os.walk(self.temporary) for n in names if n == 'a'], 'its folder, too')
            with self.assertRaisesRegex(Refused, 'opened already'):
                viewer.post('drop', b'x', drop='a', name='all/3')
            self.assertEqual(1, len(viewer.get('inputs')['inputs']))

    def test_what_is_given_up_counts_no_more(self):
        with self.viewer('--max-drop', '1M') as viewer:
            for i in range(5):
                viewer.post('drop', b'x' * 900000, drop=f'a{i}', name='x')
                viewer.post('discard', drop=f'a{i}')
            viewer.post('discard', drop='never')
            viewer.post('drop', b'main;f 1\n', drop='b', name='x.folded')
            viewer.post('open', drop='b')
            with self.assertRaisesRegex(Refused, 'opened already'):
                viewer.post('discard', drop='b')
            self.assertEqual(['x.folded'], self.kept())
            for drop in ('..', '', 'a/b'):
                with self.assertRaisesRegex(Refused, 'name a drop'):
                    viewer.post('discard', drop=drop)

    def test_links_in_a_database_lead_nowhere(self):
        """A copy of the source that is a link to a secret is not shown, however often the measurement names it."""
        secret = self.write('secret.txt', b'the secret\n' * 200)
        database = self.path('database')
        shutil.copytree(os.path.join(EXAMPLES, 'heat-hpctoolkit'), database)
        for folder, folders, names in os.walk(os.path.join(database, 'src')):
            for name in names:
                os.remove(os.path.join(folder, name))
                os.symlink(secret, os.path.join(folder, name))
        with self.viewer(database) as viewer:
            shown = 0
            for context in range(60):
                try:
                    answer = viewer.get('node', context=context)
                except Refused:
                    continue
                shown += 1
                self.assertNotIn('the secret', json.dumps(answer))
        self.assertGreater(shown, 10)

    def test_dropped_names_are_not_paths_to_others(self):
        """Those that lead out are refused; what looks like a path is one below the drop."""
        secret = self.write('secret.folded', b'secret;function 1\n')
        with self.viewer(FILTER) as viewer:
            for drop, name in (('c', secret), ('c', '..' + secret), ('c', secret[1:] + '/..'), ('../c', 'x'), ('c', 'a/..'), ('c', 'x\0y'), ('c\0', 'x')):
                with self.assertRaises(Refused) as caught:
                    viewer.post('drop', b'main;f 1\n', drop=drop, name=name)
                self.assertEqual(400, caught.exception.status)
            viewer.post('drop', b'main;f 1\n', drop='c', name=secret[1:])  # a name like any other, below the drop
            self.assertEqual(['filter.sqlite', secret.split('/')[1]], [i['name'] for i in viewer.post('open', drop='c')['inputs']])
        with open(secret, 'rb') as f:
            self.assertEqual(b'secret;function 1\n', f.read())


if __name__ == '__main__':
    main()
