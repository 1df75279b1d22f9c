package half

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestSum(t *testing.T) {
	if Sum(4) != 6 {
		t.Error(Sum(4))
	}
}

func TestWait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCount(t *testing.T) {
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { Count() })
	}
	group.Wait()
}
