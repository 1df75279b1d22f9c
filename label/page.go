package label

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"sync"

	"github.com/mustlink/mustlink/internal/view"
)

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
