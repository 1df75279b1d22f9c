package apply

import (
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/spf13/cobra"
)

// check finds every mistake that shows before data are read.
func (c *clusterCommand) check(cmd *cobra.Command, args []string) error {
	check := c.Check(cmd)
	check.Required(c.needed()...)
	c.checkFlags(check, len(args) > 0)
	check.Models(args)
	c.data.Check(check)
	c.links.Check(check)
	check.Input("--centers", c.centers)
	if c.saveTo != "" {
		check.Matrix("--save-centers", c.saveTo, "")
	}
	check.Output("-o, --output", c.out)
	return check.Err
}

// needed returns the flags that must be given.
func (c *clusterCommand) needed() []string {
	list := []string{"input"}
	if c.centers == "" {
		list = append(list, "clusters")
	}
	if c.saveTo == "" {
		list = append(list, "output")
	}
	return list
}

// checkFlags reports flags that do not go together.
func (c *clusterCommand) checkFlags(check *session.Checks, model bool) {
	given := check.Cmd.Flags().Changed
	if c.algorithm == "" {
		c.algorithm = algKMeans
		if c.links.Path != "" {
			c.algorithm = algConstrained
		}
	}
	check.OneOf("-a, --algorithm", c.algorithm, algorithmNames())
	check.OneOf("--metric", c.metric, mpckMetrics())
	if c.centers == "" || given("clusters") {
		check.Least("-n, --clusters", c.k, 1)
	}
	check.Least("--restarts", c.restarts, 1)
	check.Refuse(c.usesLinks() && c.links.Path == "", "-a %s needs links: want -c LINKS %s", c.algorithm, usage.HelpHint(check.Cmd))
	check.Refuse(!c.usesLinks() && c.links.Path != "", "-c is given, but -a %s uses no links: want -a constrained, pck or mpck", c.algorithm)
	check.Refuse(given("metric") && c.algorithm != algMPCK, "--metric is for -a mpck, not %s", c.algorithm)
	check.Refuse(given("weight") && !c.penalized(), "--weight is for -a pck and mpck, not %s", c.algorithm)
	check.Refuse(!(c.weight > 0), "--weight is %v: want a number > 0", c.weight)
	check.Refuse(c.kernel != "" && (model || c.algorithm != algKernel), "-k is for -a kernel without MODEL: want no -k here")
	c.scaling.Check(check, model, c.data.Gram)
	c.checkStream(check, model)
	check.Do(func() error {
		_, err := c.spec()
		return usage.RenameParams(err, "kernel", "-k, --kernel")
	})
}

// checkStream reports flags that do not go together, and what cannot be done with a pipe.
func (c *clusterCommand) checkStream(check *session.Checks, model bool) {
	given := check.Cmd.Flags().Changed
	for _, name := range []string{"algorithm", "links", "restarts", "seed", "stream", "passes", "save-centers"} {
		check.Refuse(c.centers != "" && given(name), "--%s is given with --centers, which learns nothing: want one of the two", name)
	}
	check.Refuse(given("passes") && c.algorithm != algMiniBatch, "--passes is for -a minibatch, not %s", c.algorithm)
	check.Least("--passes", c.passes, 1)
	check.Refuse(c.stream && c.algorithm != algKMeans, "--stream is for -a kmeans, not %s", c.algorithm)
	check.Refuse(c.saveTo != "" && (c.algorithm == algKernel || c.penalized()),
		"--save-centers is given, but -a %s does not assign to centres alone: want -a kmeans, minibatch or constrained", c.algorithm)
	check.Refuse(c.scaling.Any() && (c.centers != "" || c.saveTo != ""),
		"%s is given with centres: these would be of scaled columns, which other rows do not have: want a MODEL that scales", c.scaling.Name())
	check.Refuse(c.scaling.Any() && c.streamed(), "%s is given, but rows that are not held are not scaled: want a MODEL that scales, or scaled data", c.scaling.Name())
	check.Refuse(c.data.Gram && c.streamed() && !model, "--gram is given without MODEL: a Gram matrix has no coordinates, want -a kernel")
	c.checkPasses(check)
}

// checkPasses reports rows that would be read more often than they can be.
func (c *clusterCommand) checkPasses(check *session.Checks) {
	if source.ReadTwice(c.data.Path) || c.centers != "" {
		return
	}
	from := c.data.Path + " is no regular file and"
	if c.data.Path == session.Stream {
		from = "standard input"
	}
	check.Refuse(c.stream, "--stream goes over the rows several times, but %s can be read only once: want a file, or -a minibatch --save-centers FILE", from)
	check.Refuse(c.passes > 1, "--passes is %d, but %s can be read only once: want 1, or a file", c.passes, from)
	check.Refuse(c.algorithm == algMiniBatch && c.out != "",
		"-a minibatch learns in one pass and assigns in another, but %s can be read only once: want a file, or --save-centers FILE without -o, then --centers FILE", from)
}
