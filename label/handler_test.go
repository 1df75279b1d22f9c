package label

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// request sends a request with headers, and returns the status, the body and the headers.
func request(s *Session, method, path, body string, headers ...string) (int, string, http.Header) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:8000"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for k := 0; k < len(headers); k += 2 {
		if headers[k] == "Host" {
			r.Host = headers[k+1]
			continue
		}
		r.Header.Set(headers[k], headers[k+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String(), w.Result().Header
}

// TestRefused: requests without the key, of other origins, for other hosts, and with other bodies
// change nothing and say nothing.
func TestRefused(t *testing.T) {
	s := started(t, 30)
	const good = `{"i":0,"j":3,"answer":"must"}`
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		code                     int
	}{
		{"no key", "GET", "/state", "", nil, 403},
		{"no path", "GET", "/", "", nil, 403},
		{"wrong key", "POST", "/annannannannannanx/answer", good, nil, 403},
		{"part of the key", "POST", "/annannannannanna/answer", good, nil, 403},
		{"key in the query", "POST", "/answer?key=" + annKey, good, nil, 403},
		{"foreign host", "GET", "/" + annKey + "/state", "", []string{"Host", "evil.example:8000"}, 421},
		{"host like ours", "GET", "/" + annKey + "/state", "", []string{"Host", "127.0.0.1.evil.example"},
			421},
		{"no host", "GET", "/" + annKey + "/state", "", []string{"Host", ""}, 421},
		{"foreign origin", "POST", "/" + annKey + "/answer", good, []string{"Origin", "http://evil.example"},
			403},
		{"other port", "POST", "/" + annKey + "/answer", good, []string{"Origin", "http://127.0.0.1:9000"},
			403},
		{"null origin", "POST", "/" + annKey + "/answer", good, []string{"Origin", "null"}, 403},
		{"cross-site", "GET", "/" + annKey + "/state", "", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"same site", "GET", "/" + annKey + "/image/0", "", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"framed", "GET", "/" + annKey + "/", "",
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest",
				"iframe"}, 403},
		{"form", "POST", "/" + annKey + "/answer", "i=0&j=3&answer=must",
			[]string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"plain text", "POST", "/" + annKey + "/answer", good, []string{"Content-Type", "text/plain"}, 415},
		{"unknown field", "POST", "/" + annKey + "/answer", `{"i":0,"j":3,"answer":"must","admin":true}`, nil,
			400},
		{"no JSON", "POST", "/" + annKey + "/answer", `{"i":`, nil, 400},
		{"row too large", "POST", "/" + annKey + "/answer", `{"i":0,"j":30,"answer":"must"}`, nil, 400},
		{"huge body", "POST", "/" + annKey + "/answer", `{"answer":"` + strings.Repeat("x", bodyBytes) + `"}`,
			nil, 400},
		{"answer by GET", "GET", "/" + annKey + "/answer", good, nil, 404},
		{"other method", "PUT", "/" + annKey + "/answer", good, nil, 404},
		{"unknown page", "POST", "/" + annKey + "/shell", good, nil, 404},
		{"row of no number", "GET", "/" + annKey + "/group/../../etc", "", nil, 404},
	} {
		code, body, h := request(s, c.method, c.path, c.body, c.headers...)
		if code != c.code || !strings.Contains(body, `"error"`) || strings.Contains(body, "question") {
			t.Errorf("%s: status %d, %.200s: want %d", c.name, code, body, c.code)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: headers %v", c.name, h)
		}
	}
	if _, err := os.Stat(s.o.File); err == nil || len(s.links.records) != 0 {
		t.Error("a refused request has changed the answers")
	}
	for _, headers := range [][]string{nil, {"Origin", "http://127.0.0.1:8000"},
		{"Host", "localhost:1", "Origin", "http://localhost:1", "Sec-Fetch-Site", "same-origin"},
		{"Host", "[::1]:8"}} {
		if code, body, _ := request(s, "POST", "/"+annKey+"/answer", good, headers...); code != 200 {
			t.Errorf("%v: status %d, %s", headers, code, body)
		}
	}
	if code, _, _ := request(s, "GET", "/"+annKey+"/", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode",
		"navigate", "Sec-Fetch-Dest", "document"); code != 200 {
		t.Errorf("a link to the page: status %d", code)
	}
}

// TestHosts: a shared session answers for its own address alone.
func TestHosts(t *testing.T) {
	o := blobs(t, 30, filepath.Join(t.TempDir(), "links.csv"))
	o.Hosts = []string{"192.168.1.5:8000"}
	s := start(t, o)
	code, _, _ := request(s, "POST", "/"+annKey+"/undo", "{}", "Host", o.Hosts[0], "Content-Type",
		"application/json", "Origin", "x://"+o.Hosts[0]+"/x")
	if code != 403 {
		t.Errorf("an origin of another scheme: status %d, want 403", code)
	}
	code, _, _ = request(s, "POST", "/"+annKey+"/answer", `{"i":0,"j":1,"answer":"must"}}`, "Host",
		o.Hosts[0], "Content-Type", "application/json")
	if code != 400 || len(s.links.records) > 0 {
		t.Errorf("a body with more behind it: status %d, want 400", code)
	}
	for host, want := range map[string]int{"192.168.1.5:8000": 200, "192.168.1.5:8001": 421,
		"127.0.0.1:8000": 421, "evil.example": 421} {
		if code, _, _ := request(s, "GET", "/"+benKey+"/state", "", "Host", host); code != want {
			t.Errorf("%s: status %d, want %d", host, code, want)
		}
	}
}

// TestPolicy: the page may run its own script alone.
func TestPolicy(t *testing.T) {
	code, body, h := request(started(t, 30), "GET", "/"+annKey+"/", "")
	policy := h.Get("Content-Security-Policy")
	if code != 200 || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") ||
		!strings.Contains(policy, "script-src 'sha256-") ||
		!strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("status %d, policy %s", code, policy)
	}
	for _, word := range []string{"http:", "https:", "//cdn", " onclick=", " onsubmit=", " style=", "eval(",
		"innerHTML"} {
		if strings.Contains(strings.ReplaceAll(body, "http://www.w3.org", ""), word) {
			t.Errorf("the page contains %q", word)
		}
	}
}

// TestImages: pictures of the folder are served as what they are; everything else is refused.
func TestImages(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "pictures")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	write := func(path string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, path), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.png", picture.Bytes())
	write("pictures/good.png", picture.Bytes())
	write("pictures/<b>&\"'.png", picture.Bytes())
	write("pictures/svg.png",
		[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`))
	write("pictures/x.svg", []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`))
	write("pictures/page.jpg", []byte("<!DOCTYPE html><script>alert(1)</script>"))
	write("pictures/pdf.png", []byte("%PDF-1.4"))
	write("pictures/empty.png", nil)
	for from, to := range map[string]string{"out.png": "../secret.png", "in.png": "good.png"} {
		if err := os.Symlink(to, filepath.Join(folder, from)); err != nil {
			t.Skip(err)
		}
	}
	paths := []string{"good.png", "<b>&\"'.png", "in.png", "", "../secret.png", "pictures/../../secret.png",
		"/etc/passwd", filepath.Join(dir, "secret.png"), "out.png",
		"svg.png", "x.svg", "page.jpg", "pdf.png", "empty.png", "missing.png", ".", "good.png\x00.svg",
		"C:\\x.png", `..\secret.png`}
	const fine = 3
	o := blobs(t, 30, filepath.Join(dir, "links.csv"))
	var err error
	if o.Images, err = NewImages(folder, func(i int) string {
		return append(paths, make([]string, 30)...)[i]
	}); err != nil {
		t.Fatal(err)
	}
	s := start(t, o)
	for i, path := range paths {
		code, body, h := request(s, "GET", "/"+annKey+"/image/"+s.names.name(i), "")
		if i < fine {
			if code != 200 || body != picture.String() || h.Get("Content-Type") != "image/png" ||
				h.Get("X-Content-Type-Options") != "nosniff" ||
				!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("%q: status %d, %v", path, code, h)
			}
		} else if code != 404 || strings.Contains(body, "svg") || strings.Contains(body, dir) {
			t.Errorf("%q: status %d, %.100q: want 404", path, code, body)
		}
	}
}
