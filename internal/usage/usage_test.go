package usage

import (
	"context"
	"errors"
	"syscall"
	"testing"
)

func TestExitCode(t *testing.T) {
	live := context.Background()
	done, cancel := context.WithCancelCause(live)
	cancel(&Interruption{syscall.SIGHUP})
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{live, nil, ExitOK},
		{live, errors.New("disk full"), ExitFailed},
		{live, Errorf("wrong"), ExitInput},
		{done, context.Canceled, 129},
		{done, context.Cause(done), 129},
		{live, context.Canceled, ExitFailed},
		{done, Errorf("wrong"), ExitInput},
	} {
		if got := ExitCode(c.ctx, c.err); got != c.want {
			t.Errorf("%v: %d: want %d", c.err, got, c.want)
		}
	}
}
