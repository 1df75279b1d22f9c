package label

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/view"
)

// bodyBytes is the largest body of a request.
const bodyBytes = 64 << 10

// ServeHTTP answers requests below /KEY/, where KEY is that of a person.
func (s *Session) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	key, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	who, known := s.keys[sha256.Sum256([]byte(key))]
	switch {
	case !s.ourHost(r.Host):
		problem(w, http.StatusMisdirectedRequest, "the request is for another host")
	case foreign(r, rest == ""):
		problem(w, http.StatusForbidden, "the request comes from another page")
	case r.URL.Path == "/favicon.ico": // browsers ask for it
		w.WriteHeader(http.StatusNoContent)
	case !known:
		problem(w, http.StatusForbidden,
			"the key is missing or wrong: want the address that the program printed")
	case s.ctx.Err() != nil:
		problem(w, http.StatusServiceUnavailable, "the session has ended")
	default:
		s.guarded(func() { s.route(w, r, who, rest) })
	}
}

// ourHost reports whether a request is for this server. A page of another site whose name leads to
// this machine (DNS rebinding) sends its own name.
func (s *Session) ourHost(host string) bool {
	if len(s.o.Hosts) > 0 {
		return slices.ContainsFunc(s.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return name == "127.0.0.1" || name == "::1" || strings.EqualFold(name, "localhost")
}

// foreign reports whether a page of another origin made the request. A link to the page itself may
// be anywhere: the page has no data.
func foreign(r *http.Request, page bool) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		return !strings.EqualFold(origin, "http://"+r.Host) && !strings.EqualFold(origin, "https://"+r.Host)
	}
	site := r.Header.Get("Sec-Fetch-Site")
	followed := page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
	return site != "" && site != "same-origin" && site != "none" && !followed
}

// route answers a request of a person.
func (s *Session) route(w http.ResponseWriter, r *http.Request, who, rest string) {
	get, post := r.Method == http.MethodGet, r.Method == http.MethodPost
	name, row, _ := strings.Cut(rest, "/")
	switch {
	case get && rest == "":
		s.page(w)
	case get && rest == "state":
		s.sendState(w, who, nil)
	case get && rest == "map":
		s.sendMap(w)
	case get && rest == "disagreements":
		send(w, s.disagreements())
	case get && name == "group":
		if i, ok := s.rowOf(w, row); ok {
			send(w, s.near(i))
		}
	case get && name == "image":
		if i, ok := s.rowOf(w, row); ok {
			s.image(w, i)
		}
	case post:
		s.change(w, r, who, rest)
	default:
		problem(w, http.StatusNotFound, "there is no such page")
	}
}

// change answers a request that changes something.
func (s *Session) change(w http.ResponseWriter, r *http.Request, who, name string) {
	var in struct {
		reply
		Replies []reply `json:"replies"`
		Remove  []pair  `json:"remove"`
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/json" {
		problem(w, http.StatusUnsupportedMediaType, "want a body of application/json")
		return
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyBytes))
	d.DisallowUnknownFields()
	err := d.Decode(&in)
	if _, end := d.Token(); err != nil || end != io.EOF {
		problem(w, http.StatusBadRequest, "the body is not what this page sends")
		return
	}
	var c *contradiction
	switch name {
	case "answer":
		if in.Replies == nil {
			in.Replies = []reply{in.reply}
		}
		c, err = s.answer(who, in.Replies)
	case "settle":
		c, err = s.settle(who, in.reply, in.Remove)
	case "undo":
		var done bool
		if done, err = s.undo(who); err == nil && !done {
			problem(w, http.StatusConflict, "there is no answer of yours to undo")
			return
		}
	case "ask":
		err = s.ask(who, in.I, in.J)
	case "finish":
		if len(s.keys) > 1 {
			problem(w, http.StatusForbidden, "others may be answering: want Ctrl-C where the program runs")
			return
		}
		s.finish(nil)
	default:
		problem(w, http.StatusNotFound, "there is no such page")
		return
	}
	if err != nil {
		failed(w, err)
		return
	}
	s.sendState(w, who, c)
}

// state is what the page shows besides the map.
type state struct {
	Title         string         `json:"title"`
	Who           string         `json:"who"`
	Shared        bool           `json:"shared"` // others answer too
	Rows          int            `json:"rows"`
	Must          int            `json:"must"`
	Cannot        int            `json:"cannot"`
	Unknown       int            `json:"unknown"`
	Disagreements int            `json:"disagreements"`
	Question      *question      `json:"question"` // nil if none is left
	Next          string         `json:"next"`     // the command to go on with
	Contradiction *contradiction `json:"contradiction,omitempty"`
	Fit           fitState       `json:"fit"`
}

// fitState is the state of the fits in the background.
type fitState struct {
	On      bool    `json:"on"`
	Running bool    `json:"running"`
	Map     int     `json:"map"` // version of the map
	Method  string  `json:"method"`
	Seconds float64 `json:"seconds"`
	Note    string  `json:"note"`
	Curve   []mark  `json:"curve"`
	Stop    bool    `json:"stop"` // the verdict has stopped moving
}

// sendState writes the state for a person, with the next question.
func (s *Session) sendState(w http.ResponseWriter, who string, c *contradiction) {
	p, ok, err := s.next(who)
	if err != nil {
		failed(w, err)
		return
	}
	out := state{Title: s.o.Title, Who: who, Shared: len(s.keys) > 1, Rows: s.n, Contradiction: c,
		Next: s.o.Next}
	if ok {
		q := s.question(p.I, p.J)
		out.Question = &q
	}
	s.mu.Lock()
	for k := range s.links.records {
		if s.links.records[k].word == must {
			out.Must++
		} else {
			out.Cannot++
		}
	}
	for k := range s.open.records {
		if s.open.records[k].word == unknown {
			out.Unknown++
		} else {
			out.Disagreements++
		}
	}
	f := &s.fit
	out.Fit = fitState{s.o.Fit, f.running, f.version, f.method, f.took.Seconds(), f.note,
		append([]mark{}, f.curve...), settled(f.curve)}
	s.mu.Unlock()
	send(w, out)
}

// mapRows is the number of rows of a map; of more, the linked ones and every k-th other are drawn.
const mapRows = 20_000

// sendMap writes the map of the rows: the payload of the script of reports, and the rows of its
// points.
func (s *Session) sendMap(w http.ResponseWriter) {
	s.mu.Lock()
	v, all := s.fit.view, s.all()
	label := s.groupNames()
	s.mu.Unlock()
	if v.X == nil {
		problem(w, http.StatusNotFound, "there is no map yet")
		return
	}
	linked, at := map[int]bool{}, map[int]int{}
	for _, l := range all {
		linked[l.I], linked[l.J] = true, true
	}
	p, rows := view.Points{}, []int{}
	step := (s.n + mapRows - 1) / mapRows
	x, y := []float64{}, []float64{}
	for i := range s.n {
		if i%step == 0 || linked[i] {
			at[i] = len(rows)
			rows, x, y = append(rows, i), append(x, v.X[i]), append(y, v.Y[i])
			p.IDs, p.Labels = append(p.IDs, s.name(i)), append(p.Labels, label(i))
		}
	}
	for _, l := range all {
		ends := [2]int{at[l.I], at[l.J]}
		if l.Sign > 0 {
			p.Must = append(p.Must, ends)
		} else {
			p.Cannot = append(p.Cannot, ends)
		}
	}
	v.X, v.Y = x, y
	p.Count, p.Views = len(rows), []view.Layout{v}
	var drawing bytes.Buffer
	if err := p.WritePayload(&drawing, nil); err != nil {
		failed(w, err)
		return
	}
	send(w, map[string]any{"drawing": json.RawMessage(drawing.Bytes()), "rows": rows,
		"images": s.o.Images != nil})
}

// namedGroups is the number of groups with a color of their own.
const namedGroups = 12

// groupNames returns the name of the group of a row, "" for a row without one. Groups have the
// numbers in which the answers began them, and one that takes over another keeps the smaller, so
// that an answer leaves all other colors of the map as they are.
func (s *Session) groupNames() func(row int) string {
	begun, seen, names := 0, map[int]bool{}, map[int]string{}
	for _, l := range s.all() {
		if l.Sign != links.Must {
			continue
		}
		if !seen[l.I] && !seen[l.J] {
			begun++
			if g := s.groups.of[l.I]; names[g] == "" {
				if names[g] = "later groups"; begun <= namedGroups {
					names[g] = "group " + strconv.Itoa(begun)
				}
			}
		}
		seen[l.I], seen[l.J] = true, true
	}
	of := slices.Clone(s.groups.of)
	return func(row int) string { return names[of[row]] }
}

// rowOf reads a row number of a path.
func (s *Session) rowOf(w http.ResponseWriter, text string) (int, bool) {
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= s.n {
		problem(w, http.StatusNotFound, "there is no such row")
		return 0, false
	}
	return i, true
}

// image writes the picture of a row.
func (s *Session) image(w http.ResponseWriter, i int) {
	if s.o.Images == nil || s.o.Images.path(i) == "" {
		problem(w, http.StatusNotFound, "the row has no picture")
		return
	}
	if err := s.o.Images.serve(w, i); err != nil {
		problem(w, http.StatusNotFound, err.Error())
	}
}

// send writes JSON.
func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) // an error is the end of the connection
}

// problem writes an error for the page.
func problem(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]string{"error": text})
}

// failed writes the error of an answer.
func failed(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	if errors.Is(err, errRow) || fault.IsInput(err) {
		code = http.StatusBadRequest
	}
	problem(w, code, err.Error())
}

//go:embed page.html page.css page.js
var files embed.FS

// built is the page and its security policy.
type built struct {
	html   []byte
	policy string
}

// build makes the page. Its policy allows its own script and style alone, by their hashes.
var build = sync.OnceValue(func() built {
	read := func(name string) string {
		b, err := files.ReadFile(name)
		if err != nil {
			panic(err) // embedded
		}
		return string(b)
	}
	style, script := view.Style()+read("page.css"), "\"use strict\";"+view.Script()+read("page.js")
	var b bytes.Buffer
	t, err := template.New("page").Parse(read("page.html"))
	if err == nil {
		err = t.Execute(&b, struct {
			Style    template.CSS
			Script   template.JS
			Controls template.HTML
		}{template.CSS(style), template.JS(script), view.Controls()})
	}
	if err != nil {
		panic(err) // embedded
	}
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return built{b.Bytes(), "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}
})

// page writes the page, which has no data of its own.
func (s *Session) page(w http.ResponseWriter) {
	p := build()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", p.policy)
	w.Write(p.html) // an error is the end of the connection
}
