package trade

import (
	"wick/trade/book"
)

// The names of package book that callers of this package use.
type (
	Alert          = book.Alert
	AlertRequest   = book.AlertRequest
	Approval       = book.Approval
	BrokerPosition = book.BrokerPosition
	Code           = book.Code
	Condition      = book.Condition
	ConditionType  = book.ConditionType
	Ending         = book.Ending
	Exit           = book.Exit
	FiredCondition = book.FiredCondition
	Grid           = book.Grid
	Limits         = book.Limits
	Notification   = book.Notification
	OCO            = book.OCO
	Order          = book.Order
	OrderRequest   = book.OrderRequest
	OrderStatus    = book.OrderStatus
	OrderType      = book.OrderType
	Pause          = book.Pause
	Position       = book.Position
	Quoter         = book.Quoter
	Reason         = book.Reason
	Refusal        = book.Refusal
	Repeat         = book.Repeat
	Retry          = book.Retry
	Role           = book.Role
	Side           = book.Side
	Standing       = book.Standing
	Step           = book.Step
	Time           = book.Time
	TimeInForce    = book.TimeInForce
	Totals         = book.Totals
	TradingState   = book.TradingState
	Who            = book.Who
)

const (
	Active                = book.Active
	Buy                   = book.Buy
	CrossesAbove          = book.CrossesAbove
	CrossesBelow          = book.CrossesBelow
	Day                   = book.Day
	EachBar               = book.EachBar
	EachTime              = book.EachTime
	EndedCancelled        = book.EndedCancelled
	EndedExpired          = book.EndedExpired
	EndedFired            = book.EndedFired
	EndedUnknown          = book.EndedUnknown
	FOK                   = book.FOK
	GTC                   = book.GTC
	GTD                   = book.GTD
	Halted                = book.Halted
	IOC                   = book.IOC
	IndicatorSignal       = book.IndicatorSignal
	Limit                 = book.Limit
	Market                = book.Market
	MaxOpenPerSymbol      = book.MaxOpenPerSymbol
	Once                  = book.Once
	PriceAbove            = book.PriceAbove
	PriceBelow            = book.PriceBelow
	Reducing              = book.Reducing
	RoleOCO               = book.RoleOCO
	RoleStopLoss          = book.RoleStopLoss
	RoleTakeProfit        = book.RoleTakeProfit
	Sell                  = book.Sell
	StatusCancelled       = book.StatusCancelled
	StatusFilled          = book.StatusFilled
	StatusOpen            = book.StatusOpen
	StatusPartiallyFilled = book.StatusPartiallyFilled
	StatusRejected        = book.StatusRejected
	Stop                  = book.Stop
	StopLimit             = book.StopLimit
	TrailingStop          = book.TrailingStop
)
