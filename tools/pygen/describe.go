package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/param"
)

// width is the number of columns of a line of a docstring.
const width = 100

// flags are references to options of the command, and what they are in Python.
var flags = strings.NewReplacer(
	" (--links-from-labels all)", "", " (-k)", "",
	"edges of knn and eps", `edges of "knn" and "eps:R"`,
	"that of -k", "that of the fit",
	"kernel with -k", "kernel if the fit has one",
)

var (
	assignment = regexp.MustCompile(`\b([a-z_]+)=([a-z][\w:]*)`) // graph=dense
	bound      = regexp.MustCompile(`([<>]=?) (\d)`)             // >= 1, which stays on one line
	literal    = regexp.MustCompile(`@FILE|\bp5\b`)              // values that stand alone
)

// described returns the help of a parameter in the words of Python: sentences that name values as
// Python spells them.
func described(p param.Field) string {
	values := slices.Concat(p.Choices, p.Words)
	sentences := []string{spelled(p.Meaning, nil)}
	if len(p.Choices) > 0 {
		sentences[0] += ": " + either(p.Choices)
	}
	if p.Range != "" {
		sentences = append(sentences, "Range: "+p.Range)
	}
	for _, w := range p.Words {
		if w.Help != "" {
			sentences = append(sentences, strconv.Quote(w.Name)+": "+spelled(w.Help, nil))
		}
	}
	switch {
	case p.Zero == "":
	case p.Type != param.Text:
		sentences = append(sentences, "0: "+spelled(p.Zero, values))
	case p.Default == "":
		sentences = append(sentences, "None: "+spelled(p.Zero, values))
	}
	if p.File != "" && !hasFile(p) {
		sentences = append(sentences, `"@FILE": `+p.File)
	}
	if p.Instead != "" {
		sentences = append(sentences, "Instead of "+p.Instead)
	}
	return strings.Join(sentences, ". ")
}

// hasFile reports whether a file is one of the choices of a parameter.
func hasFile(p param.Field) bool {
	return slices.ContainsFunc(p.Choices, func(c param.Choice) bool { return c.Name == "@FILE" })
}

// either joins choices with their meanings: "a", "b" (the second) or "c".
func either(list []param.Choice) string {
	var texts []string
	for _, c := range list {
		text := strconv.Quote(c.Name)
		if c.Help != "" {
			text += " (" + spelled(c.Help, nil) + ")"
		}
		texts = append(texts, text)
	}
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

// spelled returns a text of the library with values as Python spells them. Words that are one of
// the values are quoted.
func spelled(text string, values []param.Choice) string {
	text = flags.Replace(text)
	text = strings.ReplaceAll(text, "; false ", "; False ")
	text = literal.ReplaceAllString(text, `"$0"`)
	for _, v := range values {
		word := regexp.MustCompile(`(^|[ ,])(` + regexp.QuoteMeta(v.Name) + `)($|[ ,])`)
		text = word.ReplaceAllString(text, `$1"$2"$3`)
	}
	return assignment.ReplaceAllStringFunc(text, func(match string) string {
		name, value, _ := strings.Cut(match, "=")
		if other, is := reserved[name]; is {
			name = other
		}
		return name + "=" + strconv.Quote(value)
	})
}

// sentence returns a text whose first letter is upper case, unless it is a symbol of one letter or
// a value.
func sentence(text string) string {
	if first, _, _ := strings.Cut(text, " "); len(first) == 1 {
		return text
	}
	return upper(text)
}

// kind returns the type of a parameter as numpydoc writes it: "int or None" for "int | None".
func kind(hint string) string {
	hint = strings.ReplaceAll(hint, "dict[str, Any]", "dict")
	for {
		before, rest, is := strings.Cut(hint, "Literal[")
		if !is {
			return strings.ReplaceAll(hint, " | ", " or ")
		}
		choices, after, _ := strings.Cut(rest, "]")
		hint = before + "{" + choices + "}" + after
	}
}

// wrapped returns a text in lines that begin with the given number of spaces.
func wrapped(text string, indent int) string {
	margin := strings.Repeat(" ", indent)
	var out strings.Builder
	column := 0
	for _, word := range strings.Fields(bound.ReplaceAllString(text, "$1\x00$2")) {
		word = strings.ReplaceAll(word, "\x00", " ")
		size := len([]rune(word))
		switch {
		case column == 0:
			out.WriteString(margin)
			column = indent
		case column+1+size > width:
			out.WriteString("\n" + margin)
			column = indent
		default:
			out.WriteString(" ")
			column++
		}
		out.WriteString(word)
		column += size
	}
	return out.String()
}
