package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// labelServer returns the address of a server with one of its deadlines a hundredth of what it is,
// nil for none.
func labelServer(t *testing.T, deadline func(s *http.Server) *time.Duration) string {
	t.Helper()
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "hello %v", err)
	}))
	if deadline != nil {
		*deadline(server) /= 100
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Close()
		<-ended
	})
	return listener.Addr().String()
}

// dial connects, and sends a text.
func dial(t *testing.T, address, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// rest returns what the server sends until it closes the connection, or "" and an error if it does
// not within some time.
func rest(c net.Conn, within time.Duration) (string, error) {
	_ = c.SetReadDeadline(time.Now().Add(within))
	b, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "", err
	}
	return string(b), nil
}

// TestSlowConnections: half a header, half a body and a connection without a request are each
// closed by the deadline of their own.
func TestSlowConnections(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: h\r\n"
	for _, c := range []struct {
		name, text, want string
		deadline         func(s *http.Server) *time.Duration
	}{
		{"half a header", get + "X: 1", "",
			func(s *http.Server) *time.Duration { return &s.ReadHeaderTimeout }},
		{"half a body", get + "Content-Length: 9\r\nConnection: close\r\n\r\n{", "i/o timeout",
			func(s *http.Server) *time.Duration { return &s.ReadTimeout }},
		{"idle", get + "\r\n", "hello <nil>", func(s *http.Server) *time.Duration { return &s.IdleTimeout }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := rest(dial(t, labelServer(t, c.deadline), c.text), 8*time.Second)
			if err != nil || !strings.Contains(got, c.want) {
				t.Errorf("got %q, %v: want %q, and the end", got, err, c.want)
			}
		})
	}
}

// TestCrowd: of many connections the server keeps some, and a browser has an answer on a connection
// that it has used all along.
func TestCrowd(t *testing.T) {
	address := labelServer(t, nil)
	dials := 0
	client := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			dials++
			return new(net.Dialer).DialContext(ctx, network, to)
		}}}
	defer client.CloseIdleConnections()
	ask := func() {
		r, err := client.Get("http://" + address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	var crowd []net.Conn
	for k := range 3 * connections {
		if k%(connections/4) == 0 {
			ask()
		}
		c := dial(t, address, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		if _, err := c.Read(make([]byte, 1)); err != nil { // the server has taken it
			t.Fatal(err)
		}
		crowd = append(crowd, c)
	}
	ask()
	var open atomic.Int32
	var all sync.WaitGroup
	for _, c := range crowd {
		all.Go(func() {
			if _, err := rest(c, 2*time.Second); err != nil {
				open.Add(1)
			}
		})
	}
	all.Wait()
	if n := open.Load(); n > connections || dials != 1 {
		t.Errorf("%d connections are open, and the browser has dialed %d times: want at most %d and once", n,
			dials, connections)
	}
}
